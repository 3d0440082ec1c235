"""The function on the page is the function in the model: put ours in, get the same answer."""

import functools
import math
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch.testing import assert_close

from explainers.attention.bounded_scores import capped_attention
from explainers.attention.position_bias import biased_attention
from explainers.attention.scaled_dot_product import attention
from explainers.attention.sinks_and_gates import attention_with_sinks
from explainers.models import attention_hook
from explainers.models.attention_hook import run_model
from explainers.models.changes import AblatedHeads, Temperature
from explainers.models.comparison import make_eager_twin, measure_differences
from tests.support.tiny_families import FAMILIES, inputs, tiny, tiny_inside

WRITING = [name for name, (model, *_) in FAMILIES.items() if "Masked" not in model]
ADD_IN_ANOTHER_ORDER = {"BLOOM (ALiBi)", "MPT (ALiBi)", "GPT-OSS (sinks)"}
"""BLOOM and MPT add their bias to products that are not rounded yet, GPT-OSS subtracts first."""


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Matrices this small are not worth a second one."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


ours = functools.cache(tiny_inside)


def held(family, dtype, decoded):
    """Every number is the model's own, but for a few roundings of the largest one."""
    model = ours(family, dtype)
    rows = measure_differences(model, num_decoded=decoded, **inputs(model))
    print(family, dtype, *rows, sep="\n")
    roundings = 32 if family in ADD_IN_ANOTHER_ORDER else 8
    eps = torch.finfo(dtype).eps
    assert not [row for row in rows if not row.largest <= roundings * eps * row.magnitude]
    assert len(rows) == len(run_model(model, **inputs(model)).layers) + 1


@pytest.mark.parametrize("family", FAMILIES)
def test_our_attention_is_the_models_attention(family):
    """In one reading, and with a cache that is read token by token."""
    for dtype in (torch.float32, torch.bfloat16):
        held(family, dtype, decoded=0)
        if family in WRITING:
            held(family, dtype, decoded=2)


@pytest.mark.parametrize("wrong", [1.001, math.nan])
def test_a_difference_from_the_models_own_code_is_found(wrong, monkeypatch):
    model, right = ours("Llama"), attention_hook.scale_query
    shared = zip(model.parameters(), make_eager_twin(model).parameters(), strict=True)
    assert all(one.data_ptr() == theirs.data_ptr() for one, theirs in shared), "memory for two"
    monkeypatch.setattr(attention_hook, "scale_query", lambda *given: right(*given) * wrong)
    for decoded in (0, 2):
        rows = measure_differences(model, num_decoded=decoded, **inputs(model))
        assert not any(row.largest < 1e-5 for row in rows)


FUNCTIONS = {
    "Llama": attention,
    "DeepSeek-V3 (MLA)": attention,
    "Whisper": attention,
    "Gemma 2 (soft-cap)": capped_attention,
    "GPT-OSS (sinks)": attention_with_sinks,
    "T5 (relative bias)": biased_attention,
    "BLOOM (ALiBi)": biased_attention,
}


def test_the_function_that_ran_is_one_that_the_pages_show():
    for family, shown in FUNCTIONS.items():
        model = ours(family)
        ran = {layer.function for layer in run_model(model, **inputs(model)).layers}
        assert {getattr(function, "func", function) for function in ran} == {shown}, family


def test_every_layer_is_recorded_with_what_it_was_given():
    model = ours("Llama")
    layers = run_model(model, **inputs(model)).layers
    assert [(layer.kind, layer.layer_index) for layer in layers] == [("self", n) for n in range(3)]
    layer = layers[1]
    assert layer.query.shape == (2, 6, 7, 4)
    assert layer.key.shape == layer.value.shape == (2, 2, 7, 4)
    assert layer.scores.shape == layer.weights.shape == (2, 6, 7, 7)
    model = ours("Gemma 3 (local/global)")
    local = run_model(model, **inputs(model)).layers
    assert [layer.window for layer in local] == [4, None, 4], "how far they see"


def test_an_encoder_a_decoder_and_what_is_between_them():
    model = ours("Marian")
    layers = run_model(model, **inputs(model)).layers
    places = [(layer.kind, layer.layer_index) for layer in layers]
    between = [(kind, n) for n in range(3) for kind in ("self", "cross")]
    assert places == [("encoder", 0), ("encoder", 1), *between]
    assert layers[3].weights.shape == (2, 12, 5, 7)
    assert (layers[3].weights[0, ..., 5:] == 0).all(), "padding is seen"


def test_visitors_share_a_model_and_not_their_changes():
    model, text = ours("Llama"), inputs(ours("Llama"))
    wishes = [(), (Temperature(temperature=3.0),), (AblatedHeads(heads=frozenset({(0, 1)})),)]
    alone = [run_model(model, changes=wish, **text).output.logits for wish in wishes]
    assert not torch.allclose(alone[0], alone[1])
    assert not torch.allclose(alone[0], alone[2])
    at_once = threading.Barrier(len(wishes))

    def wait(layer):
        at_once.wait(timeout=60)  # all are in the same layer of the model now
        return layer.layer_index

    with ThreadPoolExecutor(len(wishes)) as pool:
        visits = [
            pool.submit(run_model, model, changes=wish, record=wait, **text) for wish in wishes
        ]
    for visit, logits in zip(visits, alone, strict=True):
        assert torch.equal(visit.result().output.logits, logits)
        assert visit.result().layers == [0, 1, 2]


def test_half_precision_does_not_overflow_before_the_scores_are_scaled():
    layer = ours("GPT-2").get_submodule("transformer.h.0.attn")
    seeded = torch.Generator().manual_seed(0)
    shape = (1, 6, 5, 16)
    query, key, value = (torch.randn(shape, generator=seeded) for _ in range(3))
    mask = torch.ones(1, 1, 5, 5, dtype=torch.bool).tril()
    query, key, value = (query * 300).half(), (key * 300).half(), value.half()
    assert not (query @ key.transpose(2, 3)).isfinite().all(), "nothing would overflow"
    output, _ = attention_hook.attend(layer, query, key, value, mask)
    assert output.dtype == torch.float16
    expected = attention(query.double(), key.double(), value.double(), mask).output
    assert_close(output.double(), expected.transpose(1, 2), atol=1e-3, rtol=1e-3)


def test_what_never_asks_or_masks_by_itself_or_fails_is_told():
    model = ours("GPT-2")
    with pytest.raises(ZeroDivisionError):
        run_model(model, record=lambda layer: 1 / 0, **inputs(model))
    assert attention_hook.active_run.get() is None
    model = tiny("GPT-2")
    with pytest.raises(ValueError, match="GPT2LMHeadModel never asked for attention"):
        run_model(model, **inputs(model))
    ids, mask = torch.ones(1, 3).long(), torch.zeros(1, 1, 3, 3)
    with pytest.raises(ValueError, match="GPT2Attention makes a mask of its own"):
        run_model(ours("GPT-2"), input_ids=ids, attention_mask=mask)
    layer, tensor = ours("GPT-2").get_submodule("transformer.h.0.attn"), torch.ones(1, 6, 3, 16)
    with pytest.raises(ValueError, match="GPT2Attention makes a mask of its own"):
        attention_hook.attend(layer, tensor, tensor, tensor, None)


@pytest.mark.parametrize(
    "extra", [{"chunks": 3}, {"dropout": 0.1}, {"softcap": 2.0, "s_aux": torch.ones(6)}]
)
def test_what_our_functions_do_not_do_is_refused(extra):
    layer, tensor = ours("GPT-2").get_submodule("transformer.h.0.attn"), torch.ones(1, 6, 1, 16)
    with pytest.raises(ValueError, match=f"does more than our functions do: .*{min(extra)}"):
        attention_hook.attend(layer, tensor, tensor, tensor, None, **extra)
