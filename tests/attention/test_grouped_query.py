"""Shared heads: against torch's GQA, and MHA and MQA as the two ends of it."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from explainers.attention import masks
from explainers.attention.grouped_query import (
    average_kv_heads,
    cache_elements,
    grouped_query,
    share,
    share_wrongly,
)
from explainers.attention.layer import MultiHead

HEAD_DIM, D_MODEL = 4, 14


def drawn(*axes):
    seeded = torch.Generator().manual_seed(sum(axes) + len(axes))
    return torch.randn(*axes, generator=seeded, dtype=torch.double)


def layer_of(heads, kv_heads):
    w_key, w_value = drawn(2, D_MODEL, kv_heads * HEAD_DIM)
    w_output = drawn(heads * HEAD_DIM, D_MODEL)
    return MultiHead(drawn(D_MODEL, heads * HEAD_DIM), w_key, w_value, w_output, HEAD_DIM)


CAUSAL = masks.build(masks.causal, 5, 5)
X = drawn(2, 5, D_MODEL)


@pytest.mark.parametrize("kv_heads", [1, 3, 6])
@pytest.mark.parametrize("rule", masks.RULES)
def test_agrees_with_torch_under_every_rule(rule, kv_heads):
    layer, mask = layer_of(6, kv_heads), masks.build(masks.RULES[rule], 5, 5)
    projections = (X @ w for w in (layer.w_query, layer.w_key, layer.w_value))
    query, key, value = (p.reshape(2, 5, -1, HEAD_DIM).permute(0, 2, 1, 3) for p in projections)
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, enable_gqa=True)
    run = grouped_query(X, layer, mask)
    assert_close(run.per_head, expected)
    assert_close(run.output, expected.permute(0, 2, 1, 3).reshape(2, 5, -1) @ layer.w_output)


def test_averaging_is_the_mean_over_each_group():
    layer = layer_of(6, 6)
    averaged = average_kv_heads(layer, 2)
    assert (averaged.num_heads, averaged.num_kv_heads) == (6, 2)
    for old, new in [(layer.w_key, averaged.w_key), (layer.w_value, averaged.w_value)]:
        heads = old.split(HEAD_DIM, dim=-1)
        assert_close(new[:, :HEAD_DIM], (heads[0] + heads[1] + heads[2]) / 3)
        assert_close(new[:, HEAD_DIM:], (heads[3] + heads[4] + heads[5]) / 3)
    assert torch.equal(averaged.w_query, layer.w_query)
    assert torch.equal(averaged.w_output, layer.w_output)


@pytest.mark.parametrize("kv_heads", [0, 4, 12])
def test_heads_that_cannot_be_averaged_are_refused_with_their_sizes(kv_heads):
    with pytest.raises(ValueError, match=f"6 KV heads cannot be averaged into {kv_heads}"):
        average_kv_heads(layer_of(6, 6), kv_heads)


def read_by(sharing, kv_heads, group_size):
    """Which KV head each query head reads."""
    numbered = torch.arange(kv_heads)[:, None, None].expand(2, kv_heads, 5, HEAD_DIM)
    return sharing(numbered, group_size)[1, :, 4, 3].tolist()


@given(st.integers(1, 6), st.integers(1, 6))
def test_the_mistake_shows_only_between_the_two_ends(kv_heads, group_size):
    order = read_by(share, kv_heads, group_size)
    assert order == [head // group_size for head in range(kv_heads * group_size)]
    unnoticed = kv_heads == 1 or group_size == 1
    wrong = read_by(share_wrongly, kv_heads, group_size)
    assert wrong == [head % kv_heads for head in range(kv_heads * group_size)]
    assert (wrong == order) == unnoticed


@pytest.mark.parametrize("kv_heads", [1, 2, 6])
def test_only_the_kv_heads_are_cached(kv_heads):
    run = grouped_query(X[0], layer_of(6, kv_heads), CAUSAL)
    assert cache_elements(5, kv_heads, HEAD_DIM) == run.key.numel() + run.value.numel()
