"""Images of containers are named by what they are, as their registry tells it."""

import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.house import images

LISTED = {
    f"/v2/library/{name}": json.dumps({"manifests": [{"digest": name}]}).encode()
    for name in ("python/manifests/3.11-slim", "nginx/manifests/1-alpine")
}
TEXT = "ARG PYTHON_IMAGE=python:3.11-slim\nimage: ${NGINX_IMAGE:-nginx:1-alpine}\n"


class Registry(BaseHTTPRequestHandler):
    """Tells what a tag means to whoever has fetched a token for that image."""

    def do_GET(self):
        path, _, query = self.path.partition("?")
        name = path.split("/manifests/")[0].removeprefix("/v2/")
        if path == "/token":
            scope = re.search("scope=repository:(.*):pull", query)
            self.answer(200, json.dumps({"token": scope and scope[1]}).encode())
        elif self.headers["Authorization"] != f"Bearer {name}":
            self.answer(401, b"")
        else:
            self.answer(200 if path in LISTED else 404, LISTED.get(path, b""))

    def answer(self, status, content):
        self.send_response(status)
        realm = f"http://127.0.0.1:{self.connection.getsockname()[1]}/token"
        self.send_header("WWW-Authenticate", f'Bearer realm="{realm}",service="here"')
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def registry():
    with ThreadingHTTPServer(("127.0.0.1", 0), Registry) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_tags_become_digests_and_stay_what_they_are(tmp_path, registry):
    file = tmp_path / "compose.yaml"
    file.write_text(TEXT)
    assert images.find_unpinned((file,)) == ["nginx:1-alpine", "python:3.11-slim"]
    images.write_digests((file,), registry)
    python, nginx = (hashlib.sha256(listed).hexdigest() for listed in LISTED.values())
    written = TEXT.replace("slim", f"slim@sha256:{python}")
    written = written.replace("1-alpine", f"1-alpine@sha256:{nginx}")
    assert file.read_text() == written
    assert images.find_unpinned((file,)) == []
    images.write_digests((file,), registry)
    assert file.read_text() == written


def test_nothing_is_written_unless_all_is_known(tmp_path, registry, monkeypatch, capsys):
    file = tmp_path / "compose.yaml"
    file.write_text(TEXT + "image: ${REDIS_IMAGE:-redis:7-alpine}\n")
    monkeypatch.setattr(
        images, "write_digests", lambda write=images.write_digests: write((file,), registry)
    )
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
