"""What `python -m build` makes: a wheel with a name of its own, which needs nothing else."""

import importlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
import venv
from pathlib import Path

import numpy as np
import pytest

from explainers.__main__ import main
from explainers.models.registry import READ_FOLDERS_VARIABLE
from tests.house.test_house import imports, pins
from tests.house.test_structure import modules, reached
from tests.support.opening import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WEIGHTS = tomllib.loads((ROOT / "assets/pyproject.toml").read_text(encoding="utf-8"))["project"]
MOST_BYTES = 3_000_000
SOURCES = "explainers", "pages", "assets", ".streamlit"
SITE = Path(np.__file__).parents[1]
SIZES = {"num_hidden_layers": 2, "num_attention_heads": 6, "num_key_value_heads": 2}
CONFIG = json.dumps(SIZES | {"head_dim": 11, "hidden_size": 66})
EVERYTHING = """
import importlib, pkgutil, sys
import attention_step_by_step as package
for module in pkgutil.walk_packages(package.__path__, "attention_step_by_step."):
    if not module.name.endswith(("__main__", "contents", "tiled_kernel")):
        importlib.import_module(module.name)
assert "explainers" not in sys.modules
from tests_tiny import tiny, tokenizer_of
picture = package.look(tiny("BERT", max_position_embeddings=200), tokenizer_of(), "w7 w9 w8 w7")
print(len(picture.scores.tensors))
"""


def read_requirements(extra):
    """{package: least version} of an extra, with those of the extras that it names."""
    found: dict[str, str] = {}
    for one in PROJECT["optional-dependencies"][extra]:
        if inner := re.fullmatch(rf"{PROJECT['name']}\[(\w+)\]", one):
            found |= read_requirements(inner[1])
        else:
            name, _, least = one.partition(";")[0].partition(">=")
            found[name] = least
    return found


def test_what_is_asked_for_is_what_is_imported_in_the_versions_that_were_tested():
    pinned = pins("requirements.txt")
    base = dict(one.split(">=") for one in PROJECT["dependencies"])
    app = read_requirements("app") | base
    own = f"{WEIGHTS['name']}=={WEIGHTS['version']}"
    assert app.pop(own) == ""
    assert WEIGHTS["version"] == PROJECT["version"]
    assert app == {name: ".".join(pinned[name].split(".")[:2]) for name in pinned}
    needed = reached([modules()["explainers.notebook.look"]]) | {"explainers.notebook.look"}
    outside = {one.split(".")[0] for full in needed for one in imports(modules()[full])}
    # What transformers itself asks for; Triton comes with torch, where there is a GPU.
    known = {"tokenizers", "safetensors", "filelock", "huggingface_hub", "regex", "triton"}
    known |= {one.removesuffix("-python").replace("-", "_") for one in read_requirements("files")}
    asked = {*read_requirements("transformers"), *base}
    assert outside <= known | sys.stdlib_module_names | {"explainers"} | asked


def test_the_command_says_what_it_has_and_what_is_wrong(capsys, tmp_path, monkeypatch):
    assert main([]) == 0
    assert "attention memory" in capsys.readouterr().out
    monkeypatch.setenv(READ_FOLDERS_VARIABLE, "1")  # as the command does, which ends
    (tmp_path / "tokens.json").write_text('["The", 7]', encoding="utf-8")
    np.save(tmp_path / "weights.npy", np.ones((1, 1, 1, 1)))
    (tmp_path / "a.svg").mkdir()
    drawing = ["look", f"{tmp_path}/weights.npy", "a", "--to"]
    for asked, told in [
        (["paint"], "There is no command 'paint'."),
        (["look", "weights.npy", f"{tmp_path}/tokens.json"], 'no list of tokens, such as ["The",'),
        (["look", "nobody/nothing", "a"], "python -m explainers.models fetch nobody/nothing\n"),
        ([*drawing, f"{tmp_path}/no/a.svg"], "No such file or directory"),
        ([*drawing, f"{tmp_path}/a.svg"], "Is a directory"),
    ]:
        assert main(asked) == 2
        assert told in capsys.readouterr().err


@pytest.mark.parametrize("name", ["memory", "export", "look"])
def test_a_command_calls_itself_what_was_typed(name, capsys):
    ways = {f"attention {name}": lambda asked: main([name, *asked])}
    if name != "look":
        own = importlib.import_module(f"explainers.{name}.__main__")
        ways[f"python -m explainers.{name}"] = own.main
    for called, run_command in ways.items():
        with pytest.raises(SystemExit):
            run_command(["--help"])
        told = capsys.readouterr().out
        assert told.startswith(f"usage: {called} ")
        for other in ways.keys() - {called}:
            assert other not in told
        with pytest.raises(SystemExit):
            run_command(["--nothing"])
        assert f"\n{called}: error: " in capsys.readouterr().err


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An environment with the wheel, made of a source archive, and with nothing else."""
    made = tmp_path_factory.mktemp("wheel")
    copy, python = made / "copy", made / "venv" / "bin" / "python"
    for part in SOURCES:
        shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("app.py", "contents.py", "setup.py", "pyproject.toml", "MANIFEST.in", "LICENSE"):
        shutil.copy(ROOT / file, copy)
    archive = "import setuptools.build_meta as b; print(b.build_sdist('dist'))"
    told = run(sys.executable, "-c", archive, cwd=copy).splitlines()[-1]
    make = [sys.executable, "-m", "pip", "--quiet"]
    alone = ["--no-deps", "--no-index", "--no-build-isolation"]
    for source in (f"dist/{told}", "./assets"):
        run(*make, "wheel", *alone, "--wheel-dir", made, source, cwd=copy)
    venv.create(made / "venv", symlinks=True)
    wheel, weights = sorted(made.glob("*.whl"))
    assert wheel.stat().st_size <= MOST_BYTES
    run(*make, "--python", python, "install", *alone, wheel, cwd=made)
    (made / "config.json").write_text(CONFIG, encoding="utf-8")
    return made, lambda: run(*make, "--python", python, "install", *alone, weights, cwd=made)


def run(*command, cwd, rc=0, **environment):
    """What a command prints, in an environment that knows nothing of this folder."""
    known = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    told = subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env=known | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert told.returncode == rc, told.stdout[-2000:] + told.stderr[-2000:]
    return told.stdout if rc == 0 else told.stderr


SLOW = "a wheel is built and installed; what it asks for is checked daily"


@pytest.mark.nightly(SLOW)
def test_alone_it_sizes_a_cache_draws_given_weights_and_says_what_it_lacks(installed):
    made, _add_weights = installed
    bin_ = made / "venv" / "bin"
    code = "import attention_step_by_step.memory.cache_report, sys; print(*sys.modules)"
    loaded = run(bin_ / "python", "-c", code, cwd=made).split()
    assert not {"numpy", "explainers"} & set(loaded)
    told = run(bin_ / "attention", "memory", "config.json", "--tokens", 1000, cwd=made)
    assert f"= {2 * 2 * 11 * 2 * 1000 * 2:,} bytes" in told
    for command, missing in ((["serve"], "streamlit"), (["export", "site"], "streamlit")):
        said = f"{missing} is not installed: pip install 'attention-step-by-step[app]'"
        assert said in run(bin_ / "attention", *command, cwd=made, rc=2)
    said = "numpy is not installed: pip install 'attention-step-by-step[transformers]'"
    drawing = [bin_ / "attention", "look", "weights.npy", "a b c", "--to", "heads.svg"]
    assert said in run(*drawing, cwd=made, rc=2)
    for name in ("numpy", "numpy.libs"):
        (made / "only_numpy").mkdir(exist_ok=True)
        (made / "only_numpy" / name).symlink_to(SITE / name)
    np.save(made / "weights.npy", np.tril(np.full((2, 6, 3, 3), 0.5)))
    told = run(*drawing, cwd=made, PYTHONPATH=str(made / "only_numpy"))
    assert told.splitlines()[0].startswith("Weights: 12 heads on 3 tokens")
    assert (made / "heads.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.nightly(SLOW)
def test_with_the_packages_of_the_app_all_of_it_runs_under_its_own_name(installed):
    made, add_weights = installed
    bin_, known = made / "venv" / "bin", {"PYTHONPATH": str(SITE)}
    said = "attention-step-by-step-weights is not installed"
    assert said in run(bin_ / "attention", "serve", cwd=made, rc=2, **known)
    add_weights()
    support = (ROOT / "tests" / "support" / "tiny_families.py").read_text(encoding="utf-8")
    words = (ROOT / "tests" / "support" / "tiny_tokenizer.py").read_text(encoding="utf-8")
    words = words.replace("from tests.support.tiny_families import VOCABULARY\n", "")
    tiny = f"{support}\n{words}".replace("explainers", "attention_step_by_step")
    (made / "tests_tiny.py").write_text(tiny, encoding="utf-8")
    (made / "everything.py").write_text(EVERYTHING, encoding="utf-8")
    told = run(bin_ / "python", "everything.py", cwd=made, **known).splitlines()
    assert told[0] == "BertForMaskedLM: 18 heads on 4 tokens, 0.1 MB"
    assert int(told[1]) > 30
    embed = ["export", "--embed", "masks", "--choices", "mask=window"]
    run(bin_ / "attention", *embed, "installed.html", cwd=made, **known)
    run(sys.executable, "-m", "explainers", *embed, made / "here.html", cwd=ROOT)
    assert (made / "installed.html").read_bytes() == (made / "here.html").read_bytes()
    with socket.create_server(("localhost", 0)) as probe:
        port = probe.getsockname()[1]
    options = ["serve", "--server.address", "localhost", "--server.port", str(port)]
    environment = os.environ | known
    with subprocess.Popen([bin_ / "attention", *options], cwd=made, env=environment) as server:
        try:
            assert answers(f"http://localhost:{port}/_stcore/health", server)
        finally:
            server.terminate()


def answers(address, server):
    """Whether a server does, before it ends."""
    while server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                return answer.status == 200
        except OSError:
            time.sleep(0.1)
    return False
