"""What a smaller cache costs: a mask is a ring, rounding is that of a cache, losses are sums."""

from itertools import product

import pytest
import torch
from torch.nn.functional import cross_entropy
from torch.testing import assert_close
from transformers import DynamicCache

from explainers.attention.cache.compression import round_in_channels, round_in_tokens
from explainers.models import changes
from explainers.models.attention_hook import install_hook, run_model
from tests.models.test_attention_hook import ours
from tests.support.tiny_families import tiny
from workshop.models.measure_writing import find_rope_base, list_savings, read_prose

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
    made = tiny("Llama", head_dim=GROUP)
    made.model.layers[0].self_attn.k_proj.weight.data /= 4  # near 1, which 1e-5 is meant for
    install_hook(made)
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
