"""Images of containers are named by what they are, as Docker tells it."""

import os
import re

import pytest

from workshop import images

DIGESTS = {"python:3.11-slim": f"sha256:{'3a' * 32}", "nginx:1-alpine": f"sha256:{'5b' * 32}"}
TEXT = "ARG PYTHON_IMAGE=python:3.11-slim\nimage: ${NGINX_IMAGE:-nginx:1-alpine}\n"


@pytest.fixture(autouse=True)
def docker(tmp_path, monkeypatch):
    """In place of Docker: it knows two images."""
    script = f"#!/usr/bin/env python3\nimport sys\nprint({DIGESTS!r}[sys.argv[4]])\n"
    (tmp_path / "docker").write_text(script)
    (tmp_path / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)


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
