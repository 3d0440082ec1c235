"""The config.json of a model on the hub: one small file, and a sentence where it cannot be had."""

import http.server
import json
import socket
import threading

import huggingface_hub
import pytest

from explainers.models import hub, hub_config
from explainers.models.hub import HubUnreachableError
from explainers.models.registry import ModelError

ID = "someone/tiny-model"
CONFIG = json.dumps({"model_type": "llama", "note": "größer"})


ANSWERS = {
    "tiny-model": (200, CONFIG.encode()),
    "large": (200, b"x" * (hub_config.MAX_BYTES + 1)),
    "binary": (200, b"\xff\xfe\x00"),
    "gated": (401, b"{}"),
    "forbidden": (403, b"{}"),
    "nothing": (404, b""),
    "broken": (500, b""),
}


class Answers(http.server.BaseHTTPRequestHandler):
    """A hub that knows a few names, and remembers what it was asked for."""

    asked: list[tuple[str, str | None]]

    def do_GET(self):
        type(self).asked.append((self.path, self.headers.get("authorization")))
        status, body = ANSWERS[self.path.split("/")[2]]
        self.send_response(status)
        self.send_header("Content-Length", f"{len(body)}")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(autouse=True)
def server(monkeypatch):
    Answers.asked = []
    with http.server.ThreadingHTTPServer(("localhost", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        point_at(monkeypatch, server.server_port)
        yield Answers
        server.shutdown()


def point_at(monkeypatch, port):
    def url(model_id, file):
        return f"http://localhost:{port}/{model_id}/resolve/main/{file}"

    monkeypatch.setattr(huggingface_hub, "hf_hub_url", url)


def test_one_file_is_fetched_and_no_key_is_shown(server, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    assert hub_config.fetch_config(ID) == CONFIG
    assert server.asked == [(f"/{ID}/resolve/main/config.json", None)]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("large", "more than 1,000,000 bytes"),
        ("binary", "is not text"),
        ("gated", "is not on the hub, or is given out only"),
        ("forbidden", "is not on the hub, or is given out only"),
        ("nothing", "has no config.json on the hub"),
    ],
)
def test_what_cannot_be_had_is_said(name, sentence):
    with pytest.raises(ModelError, match=sentence):
        hub_config.fetch_config(f"someone/{name}")


def test_a_hub_in_trouble_or_silent_is_out_of_reach(monkeypatch):
    with pytest.raises(HubUnreachableError, match="error 500"):
        hub_config.fetch_config("someone/broken")
    monkeypatch.setattr(hub, "TIMEOUT", 0.2)
    with socket.create_server(("localhost", 0)) as silent:
        point_at(monkeypatch, silent.getsockname()[1])
        with pytest.raises(HubUnreachableError, match="out of reach"):
            hub_config.fetch_config(ID)


def test_no_other_place_is_asked(server):
    for name in ("", "gpt2", "../a/b", "a/b/c", "https://x.y/a", "a/b\n", "a--b/c"):
        with pytest.raises(ModelError, match="is not owner/name"):
            hub_config.fetch_config(name)
    with pytest.raises(ModelError, match="Do you mean distilbert/distilgpt2"):
        hub_config.fetch_config("distilgpt2")
    assert server.asked == []
