"""A model of the hub: weighed before it is fetched, one commit of it; and its config.json alone."""

import functools
import hashlib
import http.server
import json
import socket
import threading
import types

import huggingface_hub
import pytest

from explainers.models import hub, registry
from explainers.models.hub import HubUnreachableError
from explainers.models.registry import OFFERED_MODELS, ModelError
from tests.models.conftest import ID
from tests.support import saved_models

pytestmark = pytest.mark.usefixtures("store")

NOW, BEFORE = "a1" * 20, "b2" * 20
SMALL = {"config.json": 3, "model.safetensors": 50}


def answering(monkeypatch, files, tags=(), total=None, commit=NOW):
    """A hub that knows one model, of files with sizes, and whose owners published another since."""

    def model_info(*_, revision, **__):
        return types.SimpleNamespace(
            sha=revision or commit,
            tags=tags,
            siblings=[types.SimpleNamespace(rfilename=n, size=size) for n, size in files.items()],
            safetensors=total and types.SimpleNamespace(total=total),
        )

    api = types.SimpleNamespace(model_info=model_info)
    monkeypatch.setattr(huggingface_hub, "HfApi", lambda: api)


def test_what_a_model_weighs_is_known_before_it_is_fetched(monkeypatch):
    files = {"config.json": 3, "model.safetensors": 50, "pytorch_model.bin": 70, "onnx/m.json": 9}
    files["*.json"] = 1  # as a pattern it would bring the one in the folder
    answering(monkeypatch, files, total=11)
    assert hub.ask_size(ID) == (53, 11, ("config.json", "model.safetensors"), NOW)
    assert hub.ask_size(ID, BEFORE).commit == BEFORE
    pinned = {model.id: model.commit for model in OFFERED_MODELS if model.commit}
    assert pinned, "states that the registry names"
    assert {named: hub.ask_size(named).commit for named in pinned} == pinned
    assert hub.ask_size(next(iter(pinned)), BEFORE).commit == BEFORE


@pytest.mark.parametrize(
    ("told", "error", "match"),
    [
        *[
            ({"files": SMALL, "commit": commit}, HubUnreachableError, "which state")
            for commit in (None, "main", "../" + NOW, NOW + "0")
        ],
        ({"files": {"pytorch_model.bin": 70}}, ModelError, "has pytorch_model.bin and no safe"),
        ({"files": SMALL, "tags": ["custom_code"]}, ModelError, "brings code of its own"),
        ({"files": SMALL, "total": 10**15}, ModelError, "GB of memory"),
        ({"files": {"model.safetensors": 10**18}, "total": 1}, ModelError, "must stay free"),
    ],
)
def test_what_is_not_wanted_is_refused_before_it_is_fetched(
    monkeypatch, tmp_path, told, error, match
):
    """No named state, pickles, code, more than fits in memory or on the disk."""
    answering(monkeypatch, **told)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", pytest.fail)
    with pytest.raises(error, match=match):
        hub.download_model(ID, tmp_path / "hub", print)


@pytest.mark.parametrize("wished", [None, BEFORE])
def test_the_hub_is_asked_for_one_commits_model_and_nothing_else(monkeypatch, wished):
    answering(monkeypatch, SMALL | {"run.py": 9})
    asked = {}

    def snapshot(model_id, revision, local_dir, allow_patterns):
        asked[model_id] = revision, allow_patterns
        saved_models.llama(local_dir)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    said: list[str] = []
    folder = hub.fetch_model(ID, said.append, wished)
    commit = wished or NOW
    assert asked == {ID: (commit, ["config.json", "model.safetensors"])}
    assert f"53 bytes of commit {commit[:12]}" in said[1]
    weights = (folder / "model.safetensors").read_bytes()
    assert json.loads((folder / hub.SOURCE_FILE).read_text()) == {
        "from": f"the hub, commit {commit[:12]}",
        "commit": commit,
        "weights": {"model.safetensors": hashlib.sha256(weights).hexdigest()},
    }


def test_a_hub_that_breaks_off_leaves_no_model(monkeypatch):
    """What has come goes on there, unless another commit was begun."""
    answering(monkeypatch, SMALL)
    folders = []

    def broken(*_, local_dir, **__):
        folders.append(local_dir)
        raise ConnectionError

    monkeypatch.setattr(huggingface_hub, "snapshot_download", broken)
    for commit in (NOW, BEFORE, None):
        with pytest.raises(ModelError, match="the hub stopped answering"):
            hub.fetch_model(ID, print, commit)
    assert not registry.locate_folder(ID).exists()
    begun = registry.locate_partial_fetch(ID) / "hub" / NOW
    assert folders[0] == folders[2] == begun != folders[1]
    assert begun.is_dir()


CONFIG = json.dumps({"model_type": "llama", "note": "größer"})
NOT_GIVEN = "is not on the hub, or is given out only"
COUNTED = {"BF16": 7, "I32": 3}
ANSWERS = {
    "tiny-model": (200, CONFIG.encode(), ""),
    "large": (200, b"x" * (hub.MAX_CONFIG_BYTES + 1), "more than 1,000,000 bytes"),
    "binary": (200, b"\xff\xfe\x00", "is not text"),
    "gated": (401, b"{}", NOT_GIVEN),
    "forbidden": (403, b"{}", NOT_GIVEN),
    "nothing": (404, b"", "has no config.json on the hub"),
    "broken": (500, b"", "error 500"),
}
"""By name: the status, the file, and what is said of it."""


class Answers(http.server.BaseHTTPRequestHandler):
    """A hub that knows a few names, and remembers what it was asked for."""

    asked: list[tuple[str, str | None]]

    def do_GET(self):
        type(self).asked.append((self.path, self.headers.get("authorization")))
        status, body, _told = ANSWERS[self.path.split("/")[2]]
        self.send_response(status)
        self.send_header("Content-Length", f"{len(body)}")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
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
    assert hub.fetch_config(ID) == CONFIG
    assert server.asked == [(f"/{ID}/resolve/main/config.json", None)]


@pytest.mark.parametrize("name", [name for name, (*_, told) in ANSWERS.items() if told])
def test_a_config_that_cannot_be_had_is_said(server, name):
    *_, told = ANSWERS[name]
    with pytest.raises(HubUnreachableError if name == "broken" else ModelError, match=told):
        hub.fetch_config(f"someone/{name}")


def test_a_silent_hub_is_out_of_reach(monkeypatch):
    monkeypatch.setattr(hub, "TIMEOUT", 0.2)
    with socket.create_server(("localhost", 0)) as silent:
        point_at(monkeypatch, silent.getsockname()[1])
        with pytest.raises(HubUnreachableError, match="out of reach"):
            hub.fetch_config(ID)
        address = f"http://localhost:{silent.getsockname()[1]}"
        asking = functools.partial(huggingface_hub.HfApi, endpoint=address)
        monkeypatch.setattr(huggingface_hub, "HfApi", asking)
        with pytest.raises(HubUnreachableError, match="Timeout"):
            hub.ask_size(ID)


@pytest.mark.parametrize(
    ("answer", "counted"),
    [
        ((200, json.dumps({"safetensors": {"parameters": COUNTED}}).encode(), ""), COUNTED),
        ((200, b'{"safetensors": null}', ""), {}),
        ((200, b'{"id": "a model with other files"}', ""), {}),
        ((404, b"a mirror has files only", ""), {}),
        ((200, b"[]", ""), "no count of weights"),
        ((200, b'{"safetensors": {"total": 7}}', ""), "no count of weights"),
        ((200, b"<html>", ""), "no count of weights"),
        ((429, b"", ""), "error 429"),
        ((403, b"", ""), f"{ID} {NOT_GIVEN}"),
    ],
)
def test_the_hub_has_counted_the_weights_or_says_why_not(server, monkeypatch, answer, counted):
    address = huggingface_hub.hf_hub_url("", "").partition("//resolve")[0]
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", address)
    monkeypatch.setitem(ANSWERS, "models", answer)
    if isinstance(counted, str):
        with pytest.raises((ModelError, HubUnreachableError), match=counted):
            hub.fetch_weights(ID)
    else:
        assert hub.fetch_weights(ID) == counted
    assert server.asked == [(f"/api/models/{ID}?expand[]=safetensors", None)]


def test_no_other_place_is_asked(server):
    for name, told in (("../a/b", "is not owner/name"), ("distilgpt2", "distilbert/distilgpt2")):
        with pytest.raises(ModelError, match=told):
            hub.fetch_config(name)
    assert server.asked == []
