"""Positions: the papers' formulas, what transformers computes, and the laws that make them useful.

Sinusoidal ones, RoPE and how it is stretched, and the biases of ALiBi.
"""

import math

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

from explainers.attention import masks, stretching
from explainers.attention.position_bias import alibi_bias, alibi_slopes, biased_attention
from explainers.attention.positions import reorder, sinusoidal
from explainers.attention.rotary import angles, rotary_attention, rotate, rotate_halves
from explainers.attention.single_head import SingleHead
from tests.support.drawn import drawn

HEAD_DIM = 6
WIDE, TRAINED, FACTOR = 64, 4096, 4.0


def configure(head_dim, **rope):
    sizes = {"head_dim": head_dim, "hidden_size": 3 * head_dim, "num_attention_heads": 3}
    return LlamaConfig(**sizes, max_position_embeddings=TRAINED, rope_parameters=rope)


@pytest.mark.parametrize("d_model", [8, 7])  # an odd width ends with a sine that has no cosine
@pytest.mark.parametrize("longest", [20.0, 10_000.0])
def test_the_papers_formula(longest, d_model):
    def number(position, column):
        turn = math.cos if column % 2 else math.sin
        return turn(position / longest ** (2 * (column // 2) / d_model))

    expected = [[number(position, column) for column in range(d_model)] for position in range(30)]
    # float32 keeps an angle up to 30 to about 30 · 2⁻²², and sine and cosine move no faster.
    assert_close(sinusoidal(30, d_model, longest), torch.tensor(expected), atol=30 * 2**-22, rtol=0)


def test_only_places_or_a_mask_tell_two_orders_apart():
    w_query, w_key = drawn(2, 13, 11).float()
    x, head = drawn(9, 13).float(), SingleHead(w_query, w_key, drawn(13, 4).float())
    places, order = sinusoidal(9, 13, 100.0), torch.tensor([4, 0, 8, 2, 7, 1, 6, 3, 5])
    full, causal = masks.build(masks.full, 9, 9), masks.build(masks.causal, 9, 9)

    def moved(places, mask):
        before, after = reorder(x, places, head, mask, order)
        return (before - after).abs().max().item()

    assert moved(torch.zeros(9, 13), full) < 1e-4
    assert moved(places, full) > 0.1
    assert moved(torch.zeros(9, 13), causal) > 0.1
    assert_close(*reorder(x, places, head, causal, torch.arange(9)))


def angle_of(start, stop):
    """In double precision, so that far positions keep their digits."""
    return angles(torch.arange(start, stop, dtype=torch.double), HEAD_DIM, 10_000.0)


def test_each_pair_is_an_arrow_that_is_turned():
    # A pair is a complex number, and turning it is multiplying by one of length 1.
    x, angle = drawn(2, 3, 9, HEAD_DIM), angle_of(4, 13)
    arrows = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
    turned = arrows * torch.polar(torch.ones_like(angle), angle)
    assert_close(rotate(x, angle), torch.view_as_real(turned).flatten(-2))


def test_agrees_with_transformers_llama():
    config = configure(HEAD_DIM, rope_type="default", rope_theta=100.0)
    query, key = drawn(2, 3, 5, HEAD_DIM).float(), drawn(2, 1, 5, HEAD_DIM).float()
    place = torch.arange(7, 12)
    cos, sin = LlamaRotaryEmbedding(config)(query, place[None])
    angle = angles(place, HEAD_DIM, 100.0)
    for ours, theirs in zip((query, key), apply_rotary_pos_emb(query, key, cos, sin), strict=True):
        assert_close(rotate_halves(ours, angle), theirs)


@given(st.integers(0, 5_000))
def test_moving_the_whole_text_changes_no_score(steps):
    query, key, value = drawn(3, 4, 9, HEAD_DIM)
    mask = masks.build(masks.causal, 9, 9)
    here = rotary_attention(query, key, value, mask, angle_of(0, 9))
    moved = rotary_attention(query, key, value, mask, angle_of(steps, steps + 9))
    assert_close(moved._asdict(), here._asdict(), rtol=0, atol=1e-9)


QUERY, KEY, VALUE = drawn(2, 3, 5, HEAD_DIM), drawn(2, 3, 7, HEAD_DIM), drawn(2, 3, 7, 4)


@pytest.mark.parametrize("rule", masks.RULES)
def test_is_torchs_attention_of_turned_queries_and_keys(rule):
    mask, angle = masks.build(masks.RULES[rule], 5, 7), angle_of(0, 7)
    turned_query, turned_key = rotate(QUERY, angle_of(2, 7)), rotate(KEY, angle)
    expected = F.scaled_dot_product_attention(turned_query, turned_key, VALUE, attn_mask=mask)
    assert_close(rotary_attention(QUERY, KEY, VALUE, mask, angle).output, expected)


@pytest.mark.parametrize("head_dim", [7, 1, 0])
def test_numbers_that_are_not_pairs_are_refused(head_dim):
    with pytest.raises(ValueError, match=f"{head_dim} numbers are not pairs"):
        angles(torch.arange(3), head_dim, 100.0)


def test_no_heads_have_no_slopes():
    with pytest.raises(ValueError, match="0 heads have no slopes"):
        alibi_slopes(0)


PLAIN = angles(torch.ones(1), WIDE, 10_000.0)[0]
SLOWED = stretching.find_slowed_share(WIDE, 10_000.0, TRAINED)
YARN = stretching.interpolate_slow_pairs(PLAIN, FACTOR, SLOWED)


@pytest.mark.parametrize(
    ("kind", "times", "speed", "sharper"),
    [
        ("linear", 1, stretching.interpolate(PLAIN, FACTOR), 1),
        # Theirs grows with the text, from 1 at the trained length on.
        ("dynamic", 1, stretching.raise_base(WIDE, 10_000.0, 1), 1),
        ("dynamic", 2, stretching.raise_base(WIDE, 10_000.0, 5), 1),
        ("dynamic", 4, stretching.raise_base(WIDE, 10_000.0, 13), 1),
        ("yarn", 1, YARN, stretching.sharpen(FACTOR)),
    ],
)
def test_stretched_speeds_are_those_of_transformers(kind, times, speed, sharper):
    trained = {"original_max_position_embeddings": TRAINED, "rope_theta": 10_000.0}
    config = configure(WIDE, rope_type=kind, factor=FACTOR, **trained)
    theirs, factor = ROPE_INIT_FUNCTIONS[kind](config, "cpu", seq_len=TRAINED * times)
    assert_close(speed, theirs, rtol=1e-6, atol=0.0)
    assert sharper == pytest.approx(factor**2, rel=1e-6)
    assert stretching.sharpen(1.0) == 1
    assert 0 < int(((SLOWED > 0) & (SLOWED < 1)).sum()) < WIDE // 2


@pytest.mark.parametrize("heads", [1, 2, 3, 6, 8, 12, 16, 20])
def test_agrees_with_transformers_bloom(heads):
    # BLOOM adds slope · key position; in a row that differs from ours by the same for all keys.
    bloom = build_alibi_tensor(torch.ones(1, 7), heads, torch.float)
    mask = masks.build(masks.causal, 5, 7)
    ours = alibi_bias(alibi_slopes(heads), 5, 7)
    assert_close(bloom[:, 0, 1] - bloom[:, 0, 0], alibi_slopes(heads))
    expected = bloom.expand(heads, 5, 7).masked_fill(~mask, -torch.inf).softmax(dim=-1)
    assert_close(ours.masked_fill(~mask, -torch.inf).softmax(dim=-1), expected)


@pytest.mark.parametrize("rule", masks.RULES)
def test_biased_attention_agrees_with_torch_under_every_rule(rule):
    mask, bias = masks.build(masks.RULES[rule], 5, 7), alibi_bias(alibi_slopes(3), 5, 7)
    added = bias.masked_fill(~mask, -torch.inf).double()
    expected = F.scaled_dot_product_attention(QUERY, KEY, VALUE, attn_mask=added)
    assert_close(biased_attention(QUERY, KEY, VALUE, mask, bias).output, expected)


def test_each_step_away_costs_the_slope():
    bias = alibi_bias(torch.tensor([0.5, 0.25]), 2, 4)
    assert bias[0].tolist() == [[-1.0, -0.5, 0.0, -0.5], [-1.5, -1.0, -0.5, 0.0]]
    assert_close(bias[1], bias[0] / 2)
