"""Changes of a model's attention, held against other weights or another mask in the model."""

import copy
import math

import pytest
import torch
from torch.testing import assert_close

from explainers.models.attention_hook import run_model
from explainers.models.changes import (
    AblatedHeads,
    FewerKVHeads,
    HardAttention,
    HiddenFirstToken,
    NoCausalMask,
    NoScaling,
    QuantisedCache,
    Temperature,
    UniformWeights,
    Window,
)
from tests.models.test_attention_hook import ours
from tests.support.tiny_families import inputs, tiny

EVERY = [
    Temperature(temperature=0.5),
    NoScaling(),
    Window(width=2),
    HiddenFirstToken(),
    NoCausalMask(),
    AblatedHeads(heads=frozenset({(0, 1), (2, 0)})),
    UniformWeights(),
    HardAttention(),
    FewerKVHeads(num_kv_heads=1),
    QuantisedCache(bits=3),
]


def changed(family, *changes):
    model = ours(family)
    return run_model(model, changes=changes, **inputs(model))


@pytest.mark.parametrize("change", EVERY, ids=lambda change: type(change).__name__)
def test_a_change_is_felt_and_gone_after_its_run(change):
    before = changed("Llama").output.logits
    assert not torch.allclose(changed("Llama", change).output.logits[1], before[1], atol=1e-2)
    assert torch.equal(changed("Llama").output.logits, before)
    assert hash(change) == hash(copy.deepcopy(change)), "two visitors' equal changes are one"


def test_only_the_named_layers_are_changed():
    for change in (UniformWeights(layers=frozenset({1})), AblatedHeads(heads=frozenset({(1, 2)}))):
        before, after = changed("Llama").layers, changed("Llama", change).layers
        outputs = zip(before, after, strict=True)
        same = [torch.equal(one.output, other.output) for one, other in outputs]
        assert same == [True, False, False]
        assert torch.equal(after[0].weights, before[0].weights)


def test_an_encoder_and_cross_attention_stay_as_they_are():
    before, after = changed("Marian").layers, changed("Marian", UniformWeights()).layers
    assert all(torch.equal(after[n].weights, before[n].weights) for n in range(2))
    assert_close(after[2].weights[0, 0], torch.ones(5, 5).tril() / torch.arange(1, 6)[:, None])
    assert after[3].kind == "cross"
    assert not torch.allclose(after[3].weights, after[3].mask / after[3].mask.sum(-1)[..., None])


def test_scores_without_the_root_are_those_of_a_temperature_of_one_over_it():
    cold = Temperature(temperature=1 / math.sqrt(4))
    assert_close(changed("Llama", NoScaling()).output.logits, changed("Llama", cold).output.logits)
    layer = changed("Llama", Temperature(temperature=4.0)).layers[0]
    assert_close(layer.scores, changed("Llama").layers[0].scores / 4)


def test_what_a_mask_leaves_is_seen():
    """What a window leaves is held in `test_cache_losses`, against a ring of a cache."""
    first = changed("Llama", HiddenFirstToken()).layers[0].weights[1, :, :, 0]
    assert_close(first, torch.eye(7)[0].expand(6, 7))  # by itself alone
    layer = changed("Llama", NoCausalMask()).layers[2]
    assert (layer.weights[1] > 0).all()
    assert (layer.weights[0, ..., :2] == 0).all(), "all that is not padding"
    assert (layer.weights[0, ..., 2:] > 0).all()
    both = changed("Llama", Window(width=2), UniformWeights()).layers[0].weights[1, 0]
    assert both[3].tolist() == [0, 0, 0.5, 0.5, 0, 0, 0], "changes are made in their order"


def test_kv_heads_that_are_averaged_are_projections_that_are():
    model = tiny("Llama")
    for name, weight in model.named_parameters():
        if "k_proj" in name or "v_proj" in name:
            weight.data = weight.data.view(2, 4, -1).mean(dim=0).repeat(2, 1)
    with torch.no_grad():
        averaged = model(**inputs(model)).logits
    one_head = changed("Llama", FewerKVHeads(num_kv_heads=1)).output.logits
    # Weights averaged, or what they make: the sums run in another order (up to 2.3e-5 was seen).
    assert_close(one_head[1], averaged[1], atol=1e-4, rtol=1e-4)
    as_many = changed("Llama", FewerKVHeads(num_kv_heads=2)).output.logits
    assert torch.equal(as_many, changed("Llama").output.logits)


def test_hard_attention_hands_over_one_value_and_few_bits_leave_few_numbers():
    layer = changed("Llama", HardAttention()).layers[0]
    best = layer.scores.masked_fill(~layer.mask, -torch.inf)[1].argmax(dim=-1)
    value = layer.value[1].repeat_interleave(3, dim=0)
    assert_close(layer.output[1], value.gather(1, best[..., None].expand(-1, -1, 4)))
    key = changed("Llama", QuantisedCache(bits=3)).layers[0].key
    was = changed("Llama").layers[0].key
    step = was.abs().amax(dim=-1, keepdim=True) / 3
    assert ((key - was).abs() <= step / 2 * (1 + 1e-5)).all()
    assert_close((key / step).round(), key / step)
    assert_close(QuantisedCache(bits=16).quantise(was), was, atol=1e-3, rtol=0)
    assert (QuantisedCache(bits=8).quantise(torch.zeros(2, 3)) == 0).all()


@pytest.mark.parametrize(
    ("impossible", "why"),
    [
        (lambda: Temperature(temperature=0), "a temperature is above 0"),
        (lambda: QuantisedCache(bits=1), "2 are the fewest"),
        (lambda: changed("Llama", FewerKVHeads(num_kv_heads=3)), "2 KV heads cannot be"),
        (lambda: changed("Llama", AblatedHeads(heads=frozenset({(0, 6)}))), "layer 0 has 6 heads"),
    ],
)
def test_what_cannot_be_is_said(impossible, why):
    with pytest.raises(ValueError, match=why):
        impossible()
