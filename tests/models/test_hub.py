"""A model of the hub: weighed before it is fetched, one commit of it, and nothing else."""

import functools
import hashlib
import json
import socket
import types

import huggingface_hub
import pytest

from explainers.models import fetch, hub, registry
from explainers.models.hub import HubUnreachableError
from explainers.models.registry import OFFERED_MODELS, ModelError
from tests.support import saved_models

ID = "someone/tiny-model"


@pytest.fixture(autouse=True)
def store(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path / "store"))


@pytest.fixture
def silent(monkeypatch):
    """A hub that takes the call and never answers."""
    with socket.create_server(("localhost", 0)) as server:
        address = f"http://localhost:{server.getsockname()[1]}"
        asking = functools.partial(huggingface_hub.HfApi, endpoint=address)
        monkeypatch.setattr(huggingface_hub, "HfApi", asking)
        monkeypatch.setattr(hub, "TIMEOUT", 0.2)
        yield


def test_a_hub_that_does_not_answer_is_out_of_reach(silent):
    with pytest.raises(HubUnreachableError, match="Timeout"):
        hub.ask_size(ID)


NOW, BEFORE = "a1" * 20, "b2" * 20


def answering(monkeypatch, files, tags=(), total=None, commit=NOW):
    """A hub that knows one model, of files with sizes, and whose owners published another since."""
    info = types.SimpleNamespace(
        sha=commit,
        tags=tags,
        siblings=[types.SimpleNamespace(rfilename=name, size=size) for name, size in files.items()],
        safetensors=total and types.SimpleNamespace(total=total),
    )

    def model_info(*_, revision, **__):
        return types.SimpleNamespace(**vars(info) | {"sha": revision or commit})

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


SMALL = {"config.json": 3, "model.safetensors": 50}


@pytest.mark.parametrize(
    ("told", "error", "match"),
    [
        *[
            ({"files": SMALL, "commit": commit}, HubUnreachableError, "which state")
            for commit in (None, "main", "../" + NOW, NOW + "0")
        ],
        (
            {"files": {"config.json": 3, "pytorch_model.bin": 70}},
            ModelError,
            "has pytorch_model.bin and no safetensors",
        ),
        ({"files": SMALL, "tags": ["custom_code"]}, ModelError, "brings code of its own"),
        ({"files": SMALL, "total": 10**15}, ModelError, "GB of memory"),
        (
            {"files": SMALL | {"model.safetensors": 10**18}, "total": 1},
            ModelError,
            "must stay free",
        ),
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
    answering(monkeypatch, {"config.json": 3, "model.safetensors": 50, "run.py": 9})
    asked = {}

    def snapshot(model_id, revision, local_dir, allow_patterns):
        asked[model_id] = revision, allow_patterns
        saved_models.llama(local_dir)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    said: list[str] = []
    folder = fetch.fetch_model(ID, said.append, wished)
    commit = wished or NOW
    assert asked == {ID: (commit, ["config.json", "model.safetensors"])}
    assert f"53 bytes of commit {commit[:12]}" in said[1]
    source: dict[str, object] = {"from": f"the hub, commit {commit[:12]}", "commit": commit}
    weights = (folder / "model.safetensors").read_bytes()
    source["weights"] = {"model.safetensors": hashlib.sha256(weights).hexdigest()}
    assert json.loads((folder / fetch.SOURCE_FILE).read_text()) == source


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
            fetch.fetch_model(ID, print, commit)
    assert not registry.locate_folder(ID).exists()
    begun = registry.locate_partial_fetch(ID) / "hub" / NOW
    assert folders[0] == folders[2] == begun != folders[1]
    assert begun.is_dir()
