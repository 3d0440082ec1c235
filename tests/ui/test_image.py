"""The image that a container host runs, as the Dockerfile makes it, and what a Space needs."""

import os
import re
import shlex
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
REQUIREMENTS = (ROOT / "requirements.txt").read_text(encoding="utf-8")
FRONT_MATTER = yaml.safe_load((ROOT / "README.md").read_text(encoding="utf-8").split("---\n")[1])


def instruction(name):
    """What stands behind an instruction of the Dockerfile, the last if there are several."""
    return re.findall(rf"^{name} (.*)", DOCKERFILE, re.MULTILINE)[-1]


def image_environment():
    return dict(pair.split("=", 1) for pair in shlex.split(instruction("ENV")))


def test_the_front_matter_makes_a_space():
    assert FRONT_MATTER["sdk"] == "docker"
    assert len(FRONT_MATTER["short_description"]) <= 60
    colours = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
    assert {FRONT_MATTER["colorFrom"], FRONT_MATTER["colorTo"]} <= colours
    assert {"title", "emoji", "pinned"} <= set(FRONT_MATTER)


def test_one_port_is_named_everywhere():
    port = FRONT_MATTER["app_port"]
    assert (instruction("EXPOSE"), image_environment()["PORT"]) == (str(port), str(port))


def test_the_image_is_made_for_a_space():
    [(uid, user)] = re.findall(r"useradd .*--uid (\d+) (\w+)", DOCKERFILE)
    assert uid == "1000"
    assert instruction("USER") == user
    assert image_environment()["HOME"] == f"/home/{user}"
    install = DOCKERFILE.index("pip install")
    assert DOCKERFILE.index("COPY --chown=user requirements.txt") < install
    assert install < DOCKERFILE.index("COPY --chown=user . .")
    assert DOCKERFILE.index("COPY --chown=user . .") < DOCKERFILE.index("explainers.models fetch")


def run_steps(tmp_path, step, failing="", **arguments):
    """What a RUN of the Dockerfile does, with a Python that only tells how it was called."""
    [script] = [
        text.replace("\\\n", " ")
        for text in re.findall(r"(?m)^RUN ((?:.*\\\n)*.*)", DOCKERFILE)
        if step in text
    ]
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\necho "python $*"\ncase "$*" in *"{failing or "nothing"}"*) exit 1;; esac\n'
    )
    python.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", **arguments}
    done = subprocess.run(
        ["sh", "-c", script], capture_output=True, text=True, cwd=ROOT, env=environment
    )
    calls = [line for line in done.stdout.splitlines() if line.startswith("python ")]
    return done.returncode, calls, done.stderr


def test_every_package_comes_by_its_hash_or_from_torchs_own_index(tmp_path):
    plain = "python -m pip install --no-cache-dir --user --no-deps"
    locked = [f"{plain} --require-hashes -r requirements{kind}.lock" for kind in ("", "-torch")]
    status, calls, _ = run_steps(tmp_path, "pip install")
    assert (status, calls) == (0, [*locked, "python -m pip check"])
    status, calls, _ = run_steps(tmp_path, "pip install", TORCH_INDEX="https://index.example/cpu")
    torch = next(line for line in REQUIREMENTS.splitlines() if line.startswith("torch=="))
    small = f"{plain} --index-url https://index.example/cpu {torch}"
    assert (status, calls) == (0, [locked[0], small, "python -m pip check"])
    assert run_steps(tmp_path, "pip install", failing="requirements.lock")[0] == 1
    for file in ("Dockerfile", "Makefile", "deploy/compose.yaml"):
        assert "extra-index" not in (ROOT / file).read_text().lower().replace("_", "-"), file


def test_an_image_without_its_models_is_made_only_for_who_asks(tmp_path):
    assert run_steps(tmp_path, "explainers.models fetch")[::2] == (0, "")
    failing = {"step": "explainers.models fetch", "failing": "fetch"}
    for wished, expected in ({}, 1), ({"WITHOUT_MODELS": ""}, 1), ({"WITHOUT_MODELS": "1"}, 0):
        status, _calls, said = run_steps(tmp_path, **failing, **wished)
        assert status == expected
        assert "could not be fetched or loaded" in said
        assert "--build-arg WITHOUT_MODELS=1" in said


def test_the_image_holds_what_runs():
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    ignored = [line for line in lines if line and not line.startswith("#")]
    files = "app.py", "contents.py", "requirements.txt", ".streamlit/config.toml"
    needed = [ROOT / file for file in files]
    for folder in ("pages", "explainers", "assets/text"):
        needed += [p for p in (ROOT / folder).rglob("*.*") if "__pycache__" not in p.parts]
    for path in needed:
        place = path.relative_to(ROOT)
        covers = [p for p in ignored for part in (place, *place.parents) if fnmatch(str(part), p)]
        assert not covers, f"{place} is left out by {covers}"
