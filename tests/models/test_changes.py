"""Changes of a model's attention, held against other weights or another mask in the model.

What a smaller cache costs: a mask is a ring, rounding is that of a cache, losses are sums.
"""

import copy
import math
from itertools import product

import pytest
import torch
from torch.nn.functional import cross_entropy
from torch.testing import assert_close
from transformers import DynamicCache

from explainers.attention.cache.compression import round_in_channels, round_in_tokens
from explainers.models import changes
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
from tests.support.tiny_families import inputs, tiny, tiny_inside
from workshop.models.measure_writing import find_rope_base, list_savings, read_prose

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
    """What a window leaves is held below, against a ring of a cache."""
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


GROUP, SCORED = changes.GROUP, changes.SCORED
LONG = torch.randint(7, 41, (1, 2 * GROUP), generator=torch.Generator().manual_seed(3))


def drop_rows(cache, sinks, newest):
    """A ring's rows: the first ones, and the newest; how many are left."""
    for layer in cache.layers:
        if layer.keys.shape[-2] > sinks + newest:
            for name in ("keys", "values"):
                rows = getattr(layer, name)
                setattr(layer, name, torch.cat([rows[..., :sinks, :], rows[..., -newest:, :]], -2))


@pytest.mark.parametrize("sinks", [0, 2])
def test_a_mask_is_a_ring_that_throws_rows_away(sinks):
    """A real cache, token by token, each at its own place; before it is read, a row goes."""
    model, width = tiny("Llama"), 5
    ids, cache, logits = LONG[:, :17], DynamicCache(), []
    with torch.no_grad():
        for place in range(ids.shape[1]):
            drop_rows(cache, sinks, width - 1)
            given = {"past_key_values": cache, "position_ids": torch.tensor([[place]])}
            logits.append(model(ids[:, place : place + 1], use_cache=True, **given).logits)
            assert cache.get_seq_length() <= sinks + width
    change = changes.Window(width=width, sinks=sinks)
    masked, _ = run_model(ours("Llama"), changes=[change], input_ids=ids, use_cache=False)
    assert_close(masked.logits, torch.cat(logits, dim=1), atol=1e-4, rtol=0)


def record_keys(model, *changes):
    layers = run_model(model, changes=changes, input_ids=LONG, use_cache=False).layers
    return layers[0].key, layers[0].value


@pytest.fixture(scope="module")
def wide():
    """The same with d_k 32, so that a token has a group."""
    made = tiny_inside("Llama", head_dim=GROUP)
    made.model.layers[0].self_attn.k_proj.weight.data /= 4  # near 1, which 1e-5 is meant for
    return made


@pytest.mark.parametrize(
    ("way", "round_rows"), [(changes.TOKEN, round_in_tokens), (changes.CHANNEL, round_in_channels)]
)
def test_keys_and_values_are_those_of_a_rounded_cache(wide, way, round_rows):
    """Found by the names under which the page lists them; the other half stays as it was."""
    savings, whole = list_savings(wide.config.rope_parameters["rope_theta"]), record_keys(wide)
    assert len(savings) == 5 + 5 * len(changes.BITS)
    for (part, at), bits in product(((changes.KEYS, 0), (changes.VALUES, 1)), changes.BITS):
        found = record_keys(wide, *savings[changes.name_rounding(part, way, bits)])
        assert_close(found[at], round_rows(whole[at], bits, GROUP))
        assert torch.equal(found[1 - at], whole[1 - at])
    assert changes.count_bits(2) * GROUP == 2 * GROUP + 16 + 16, "32 numbers of 2 bits, two of 16"


def test_before_rope_is_what_the_key_projection_gives(wide):
    """transformers' own projection, rounded, then turned by transformers' own rotary embedding."""
    from transformers.models.llama.modeling_llama import rotate_half

    layer, base = wide.model.layers[0], wide.config.rope_parameters["rope_theta"]
    with torch.no_grad():
        stream = layer.input_layernorm(wide.model.embed_tokens(LONG))
        plain = layer.self_attn.k_proj(stream).view(1, LONG.shape[1], 2, GROUP).transpose(1, 2)
        rounded = round_in_channels(plain, 2, GROUP)
        cos, sin = wide.model.rotary_emb(stream, torch.arange(LONG.shape[1])[None])
        expected = rounded * cos[:, None] + rotate_half(rounded) * sin[:, None]
    change = changes.RoundedRows(part="key", bits=2, is_in_channels=True, longest=base)
    assert_close(record_keys(wide, change)[0], expected, atol=1e-5, rtol=0)


def test_a_loss_is_that_of_the_last_tokens(smollm2):
    """Of eight different texts."""
    prose = read_prose(smollm2)
    assert prose.shape == (changes.NUM_TEXTS, changes.LENGTH)
    assert len({tuple(row) for row in prose.tolist()}) == changes.NUM_TEXTS
    ids = prose[1:2]
    with torch.no_grad():
        logits = smollm2.model(input_ids=ids, use_cache=False).logits[0]
    expected = cross_entropy(logits[-SCORED - 1 : -1], ids[0, -SCORED:])
    assert changes.measure_text(smollm2, ids, ()) == pytest.approx(float(expected), abs=1e-4)
    assert find_rope_base(smollm2) == smollm2.model.config.rope_parameters["rope_theta"]
