"""Models in memory: what fits, in which numbers, and what makes room for what."""

import gc
import weakref

import pytest
import torch

from explainers.models import free_memory, registry
from explainers.models import load as loading_module
from explainers.models.load import MOST_LOADED, find_loaded_model, load_model
from explainers.models.registry import ModelError
from tests.support import saved_models

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


def test_what_does_not_fit_is_refused_before_it_takes_memory(folder, monkeypatch):
    parameters = load_model(ID).num_parameters
    loading_module._models.clear()
    monkeypatch.setattr(loading_module, "load_parts", pytest.fail)
    monkeypatch.setattr(free_memory, "measure_free_bytes", lambda: int(parameters * 2 * 1.1) - 1)
    with pytest.raises(
        ModelError,
        match=rf"{parameters:,} parameters. In numbers of 16 bits it needs .* GB of memory",
    ):
        load_model(ID)


def test_where_memory_is_short_numbers_of_16_bits_take_half_of_it(folder, monkeypatch):
    exact = load_model(ID)
    loading_module._models.clear()
    needs = free_memory.estimate_bytes(exact.num_parameters)
    monkeypatch.setattr(free_memory, "measure_free_bytes", lambda: needs - 1)
    short = load_model(ID)
    assert exact.model.dtype == torch.float32
    assert {one.dtype for one in short.model.parameters()} == {torch.bfloat16}
    assert short.provenance == f"{exact.provenance}; in bfloat16, because memory is short here"
    rounded = [one.to(torch.bfloat16) for one in exact.model.parameters()]
    assert all(map(torch.equal, short.model.parameters(), rounded))


def test_memory_keeps_few_models_and_the_latest(store):
    folders = [str(saved_models.llama(store / str(n))) for n in range(MOST_LOADED + 1)]
    first = load_model(folders[0])
    for other in folders[1:MOST_LOADED]:
        load_model(other)
    assert load_model(folders[0]) is first
    load_model(folders[-1])
    is_here = [find_loaded_model(folder) is not None for folder in folders]
    assert is_here == [True, False] + [True] * (MOST_LOADED - 1)


@pytest.mark.parametrize("why", ["too many", "no room"])
def test_the_weights_of_a_model_that_made_room_are_gone(monkeypatch, store, why):
    first, *others = (str(saved_models.llama(store / str(n))) for n in range(MOST_LOADED + 1))
    model = load_model(first).model
    object.__setattr__(model, "itself", [model])  # as parts of some models refer to each other
    weights = weakref.ref(next(model.parameters()))
    del model
    if why == "no room":
        free = lambda: 10**9 if weights() is None else 0  # noqa: E731
        monkeypatch.setattr(free_memory, "measure_free_bytes", free)
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
    monkeypatch.setattr(free_memory, "_LIMITS", {str(limit): str(used)})
    monkeypatch.setattr(free_memory.torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(free_memory, "choose_device", lambda: torch.device("cpu"))
    assert free_memory.measure_free_bytes() == 600
    limit.write_text("max\n")
    assert free_memory.measure_free_bytes() > 600
