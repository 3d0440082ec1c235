"""What we take from others is named by what it is: packages by their hashes, images by digests."""

import json
import os
import re
import subprocess
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from workshop import audit, images

ROOT = Path(__file__).parents[2]
LOCK, TORCH_LOCK = (
    (ROOT / f"requirements{kind}.lock").read_text(encoding="utf-8") for kind in ("", "-torch")
)
OF_TORCH = re.compile("torch|triton|nvidia|cuda")
"""Its builds come from places of their own, and bring their own packages: see docs/hosting.md."""


def pinned(text):
    """{name: [requirement with a version]} of a file for pip."""
    lines = re.sub(r"\\\n", " ", text).splitlines()
    found: dict[str, list[Requirement]] = {}
    for line in lines:
        if line.strip() and not line.strip().startswith("#"):
            one = Requirement(line.partition(" --hash")[0])
            found.setdefault(canonicalize_name(one.name), []).append(one)
    return found


LOCKED, TORCH_LOCKED = pinned(LOCK), pinned(TORCH_LOCK)
ASKED = pinned((ROOT / "requirements.txt").read_text(encoding="utf-8"))


def test_the_lock_has_the_versions_that_are_asked_for():
    for name, [asked] in ASKED.items():
        locked = TORCH_LOCKED if OF_TORCH.match(name) else LOCKED
        assert {one.specifier for one in locked[name]} == {asked.specifier}, "run: make lock"


def test_the_lock_has_all_that_they_need():
    """As far as this machine has it; what only other systems need is the tool's to know."""
    ahead, seen = [Requirement(name) for name in ASKED], set()
    while ahead:
        one = ahead.pop()
        name = canonicalize_name(one.name)
        if (name, *sorted(one.extras)) in seen or OF_TORCH.match(name):
            continue
        seen.add((name, *sorted(one.extras)))
        assert name in LOCKED, f"{name} is not locked. Run: make lock"
        for text in requires(name) or ():
            needed = Requirement(text)
            extras = one.extras or {""}
            if needed.marker is None or any(needed.marker.evaluate({"extra": e}) for e in extras):
                ahead.append(needed)


@pytest.mark.parametrize(
    ("lock", "least", "is_of_torch"), [(LOCK, 60, False), (TORCH_LOCK, 15, True)]
)
def test_each_package_is_known_by_its_hash(lock, least, is_of_torch):
    blocks = re.split(r"\n(?=[a-z0-9])", re.sub(r"(?m)^\s*#.*\n", "", lock))
    assert len(blocks) == sum(map(len, pinned(lock).values())) > least
    for block in blocks:
        assert re.search(r"^[a-z0-9._-]+==[\w.]+", block)
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", block), block
    assert {bool(OF_TORCH.match(name)) for name in pinned(lock)} == {is_of_torch}


def test_the_locks_say_nothing_of_where_they_were_made():
    places = r"://|--(extra-)?index|--find-links|/home|/work|/opt"
    assert not re.search(places, LOCK + TORCH_LOCK)


UNKNOWN = {"name": "b", "skip_reason": "not known"}


def known(*fixes):
    """A package as pip-audit tells of it, with a hole for each list of versions that mend it."""
    holes = [{"id": "CVE-1", "fix_versions": versions} for versions in fixes]
    return {"name": "a", "version": "1", "vulns": holes}


@pytest.mark.parametrize(
    ("told", "status", "said"),
    [
        ("", audit.UNANSWERED, "NOTHING WAS CHECKED"),
        ("no network", audit.UNANSWERED, "NOTHING WAS CHECKED"),
        ([UNKNOWN], audit.UNANSWERED, "NOTHING WAS CHECKED"),
        ([known(), UNKNOWN], audit.UNANSWERED, "NOT CHECKED, nobody knows them: b."),
        ([known()], audit.FINE, "1 packages are known, with 0 holes"),
        ([known(["2"])], audit.HOLE, "a 1: CVE-1, mended in 2"),
        ([known(["2"]), UNKNOWN], audit.HOLE, "a 1: CVE-1, mended in 2"),
        ([known([])], audit.FINE, "no version yet"),
    ],
)
@pytest.mark.parametrize("is_allowed", [False, True])
def test_an_audit_ends_as_it_was_answered(monkeypatch, capsys, told, status, said, is_allowed):
    text = told if isinstance(told, str) else json.dumps({"dependencies": told})
    answer = subprocess.CompletedProcess([], 1, stdout=text)
    monkeypatch.setattr(audit.subprocess, "run", lambda *_, **__: answer)
    monkeypatch.setenv(audit.MAY_BE_UNANSWERED, "1" if is_allowed else "")
    passes = is_allowed and status == audit.UNANSWERED
    assert audit.audit([]) == (audit.FINE if passes else status)
    written = capsys.readouterr().out
    assert said in written
    assert ("This passes only because" in written) == passes


def test_an_audit_ends_in_time(monkeypatch, capsys):
    monkeypatch.delenv(audit.MAY_BE_UNANSWERED, raising=False)
    assert audit.audit(audit.LOCKS, patience=0.01) == audit.UNANSWERED
    assert "NOTHING WAS CHECKED" in capsys.readouterr().out


DIGESTS = {"python:3.11-slim": f"sha256:{'3a' * 32}", "nginx:1-alpine": f"sha256:{'5b' * 32}"}
TEXT = "ARG PYTHON_IMAGE=python:3.11-slim\nimage: ${NGINX_IMAGE:-nginx:1-alpine}\n"


@pytest.fixture
def docker(tmp_path, monkeypatch):
    """In place of Docker: it knows two images."""
    script = f"#!/usr/bin/env python3\nimport sys\nprint({DIGESTS!r}[sys.argv[4]])\n"
    (tmp_path / "docker").write_text(script)
    (tmp_path / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)


@pytest.mark.usefixtures("docker")
def test_tags_become_digests_and_stay_what_they_are(tmp_path):
    file = tmp_path / "compose.yaml"
    file.write_text(TEXT)
    assert images.find_unpinned((file,)) == ["nginx:1-alpine", "python:3.11-slim"]
    images.write_digests((file,))
    python, nginx = DIGESTS.values()
    written = TEXT.replace("slim", f"slim@{python}").replace("1-alpine", f"1-alpine@{nginx}")
    assert file.read_text() == written
    assert images.find_unpinned((file,)) == []
    images.write_digests((file,))
    assert file.read_text() == written


@pytest.mark.usefixtures("docker")
def test_nothing_is_written_unless_all_is_known(tmp_path, monkeypatch, capsys):
    file = tmp_path / "compose.yaml"
    file.write_text(TEXT + "image: ${REDIS_IMAGE:-redis:7-alpine}\n")
    monkeypatch.setattr(images, "write_digests", lambda write=images.write_digests: write((file,)))
    monkeypatch.setattr(images.sys, "argv", ["images", "--write"])
    assert images.main() == 1
    assert "nothing is written" in capsys.readouterr().out
    assert "sha256" not in file.read_text()


def test_every_image_is_one_that_can_be_named():
    """In a variable that can be set, so that `make images` finds it."""
    dockerfile, compose = (file.read_text(encoding="utf-8") for file in images.FILES)
    assert re.findall(r"(?m)^FROM (.*)", dockerfile) == ["${PYTHON_IMAGE}"]
    ours, *others = re.findall(r"(?m)^\s+image: (.*)", compose)
    assert ours == "attention"
    assert all(re.fullmatch(r"\$\{\w+_IMAGE:-[^}]+\}", image) for image in others)
    names = {
        image.partition(":")[0]
        for f in images.FILES
        for image in images.IMAGE.findall(f.read_text())
    }
    assert names == {"python", "nginx", "redis"}
