"""RoPE: the paper's turn, Llama's pairs of it, and the law that only distance counts."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

from explainers.attention import masks
from explainers.attention.rotary import angles, rotary_attention, rotate, rotate_halves

HEAD_DIM = 6


def drawn(*axes):
    seeded = torch.Generator().manual_seed(sum(axes) + len(axes))
    return torch.randn(*axes, generator=seeded, dtype=torch.double)


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
    config = LlamaConfig(
        hidden_size=18,
        num_attention_heads=3,
        head_dim=HEAD_DIM,
        rope_parameters={"rope_type": "default", "rope_theta": 100.0},
    )
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


@pytest.mark.parametrize("rule", masks.RULES)
def test_is_torchs_attention_of_turned_queries_and_keys(rule):
    query, key, value = drawn(2, 3, 5, HEAD_DIM), drawn(2, 3, 7, HEAD_DIM), drawn(2, 3, 7, 4)
    mask, angle = masks.build(masks.RULES[rule], 5, 7), angle_of(0, 7)
    turned_query, turned_key = rotate(query, angle_of(2, 7)), rotate(key, angle)
    expected = F.scaled_dot_product_attention(turned_query, turned_key, value, attn_mask=mask)
    assert_close(rotary_attention(query, key, value, mask, angle).output, expected)


@pytest.mark.parametrize("head_dim", [7, 1, 0])
def test_numbers_that_are_not_pairs_are_refused(head_dim):
    with pytest.raises(ValueError, match=f"{head_dim} numbers are not pairs"):
        angles(torch.arange(3), head_dim, 100.0)
