"""Many heads, each with its own keys or sharing them: against torch's own, and the two ends."""

import re
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from explainers.attention import masks
from explainers.attention.grouped_query import average_kv_heads, grouped_query, share, share_wrongly
from explainers.attention.multi_head import (
    contributions,
    merge_heads,
    multi_head,
    parameters,
    split_heads,
)
from tests.support.drawn import draw_layer, drawn, fill_module

HEADS, HEAD_DIM, D_MODEL = 3, 4, 14
WIDTH = HEADS * HEAD_DIM
LAYER = draw_layer(D_MODEL, HEADS, HEADS, HEAD_DIM)
SIX = draw_layer(D_MODEL, 6, 6, HEAD_DIM)
CAUSAL = masks.build(masks.causal, 5, 5)
X = drawn(2, 5, D_MODEL)


@pytest.mark.parametrize("rule", [*masks.RULES.values(), masks.padding(torch.tensor([3, 5]))])
def test_agrees_with_torchs_module_under_every_rule(rule):
    # torch's module wants heads · d_k = d_model, and masks the forbidden.
    layer, x = draw_layer(WIDTH, HEADS, HEADS, HEAD_DIM), drawn(2, 5, WIDTH)
    mask = masks.build(rule, 5, 5)
    module = nn.MultiheadAttention(WIDTH, HEADS, bias=False, batch_first=True, dtype=x.dtype)
    forbidden = ~mask.expand(2, HEADS, 5, 5).flatten(0, 1)
    output, weights = fill_module(module, layer)(
        x, x, x, attn_mask=forbidden, average_attn_weights=False
    )
    run = multi_head(x, layer, mask)
    assert_close(run.weights, weights)
    assert_close(run.output, output)


@pytest.mark.parametrize("kv_heads", [1, 3, 6])
@pytest.mark.parametrize("rule", masks.RULES)
def test_shared_heads_agree_with_torch_under_every_rule(rule, kv_heads):
    layer, mask = draw_layer(D_MODEL, 6, kv_heads, HEAD_DIM), masks.build(masks.RULES[rule], 5, 5)
    projections = (X @ w for w in (layer.w_query, layer.w_key, layer.w_value))
    query, key, value = (p.reshape(2, 5, -1, HEAD_DIM).permute(0, 2, 1, 3) for p in projections)
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, enable_gqa=True)
    run = grouped_query(X, layer, mask)
    assert_close(run.per_head, expected)
    assert_close(run.output, expected.permute(0, 2, 1, 3).reshape(2, 5, -1) @ layer.w_output)


def test_what_the_heads_add_is_the_output():
    run = multi_head(X, LAYER, CAUSAL)
    added = contributions(run.per_head, LAYER.w_output)
    assert_close(added.sum(dim=-3), run.output)


def test_averaging_is_the_mean_over_each_group():
    averaged = average_kv_heads(SIX, 2)
    assert (averaged.num_heads, averaged.num_kv_heads) == (6, 2)
    for old, new in [(SIX.w_key, averaged.w_key), (SIX.w_value, averaged.w_value)]:
        heads = old.split(HEAD_DIM, dim=-1)
        assert_close(new[:, :HEAD_DIM], (heads[0] + heads[1] + heads[2]) / 3)
        assert_close(new[:, HEAD_DIM:], (heads[3] + heads[4] + heads[5]) / 3)
    assert torch.equal(averaged.w_query, SIX.w_query)
    assert torch.equal(averaged.w_output, SIX.w_output)


def test_the_split_copies_nothing_and_the_merge_copies():
    x, per_head = drawn(2, 5, WIDTH), multi_head(X, LAYER, CAUSAL).per_head
    assert split_heads(x, HEAD_DIM).data_ptr() == x.data_ptr()
    assert merge_heads(per_head).data_ptr() != per_head.data_ptr()


@given(st.integers(1, 6), st.integers(1, 6))
def test_the_mistake_shows_only_between_the_two_ends(kv_heads, group_size):
    numbered = torch.arange(kv_heads)[:, None, None].expand(2, kv_heads, 5, HEAD_DIM)
    order, wrong = (way(numbered, group_size)[1, :, 4, 3] for way in (share, share_wrongly))
    heads = torch.arange(kv_heads * group_size)
    assert order.equal(heads // group_size)
    assert wrong.equal(heads % kv_heads)
    assert wrong.equal(order) == (kv_heads == 1 or group_size == 1)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: draw_layer(D_MODEL, 10, 4, 6), "10 query heads cannot share 4 KV heads"),
        (lambda: draw_layer(D_MODEL, 4, 0, 6), "0 columns cannot be cut into KV heads"),
        (lambda: parameters(64, 10, 4, 6), "10 query heads cannot share 4 KV heads"),
        (lambda: average_kv_heads(SIX, 0), "6 KV heads cannot be averaged into 0"),
        (lambda: average_kv_heads(SIX, 4), "6 KV heads cannot be averaged into 4"),
        (lambda: average_kv_heads(SIX, 12), "6 KV heads cannot be averaged into 12"),
        (lambda: split_heads(X, 5), "14 columns cannot be cut into whole heads of d_k 5"),
        (lambda: replace(LAYER, head_dim=5), "12 columns cannot be cut into query heads of d_k 5"),
        (lambda: replace(LAYER, head_dim=0), "12 columns cannot be cut into query heads of d_k 0"),
        (lambda: replace(LAYER, w_value=LAYER.w_value[:, :4]), "not [(14, 12), (14, 4), (12, 14)]"),
        (lambda: replace(LAYER, w_output=LAYER.w_output[:, :9]), "(14, 12), (12, 9)]"),
    ],
)
def test_sizes_that_do_not_fit_are_refused_with_their_numbers(make, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        make()
