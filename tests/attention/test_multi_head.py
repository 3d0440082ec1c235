"""Many heads give the same numbers as torch's own module."""

import re

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from explainers.attention import masks
from explainers.attention.layer import MultiHead
from explainers.attention.multi_head import (
    contributions,
    merge_heads,
    multi_head,
    parameters,
    split_heads,
)

HEADS, HEAD_DIM, D_MODEL = 3, 4, 14
WIDTH = HEADS * HEAD_DIM


def drawn(*axes):
    seeded = torch.Generator().manual_seed(sum(axes) + len(axes))
    return torch.randn(*axes, generator=seeded, dtype=torch.double)


def layer_of(d_model):
    w_query, w_key, w_value = drawn(3, d_model, WIDTH)
    return MultiHead(w_query, w_key, w_value, drawn(WIDTH, d_model), HEAD_DIM)


LAYER = layer_of(D_MODEL)
CAUSAL = masks.build(masks.causal, 5, 5)


@pytest.mark.parametrize("rule", [*masks.RULES.values(), masks.padding(torch.tensor([3, 5]))])
def test_agrees_with_torchs_module_under_every_rule(rule):
    # torch's module wants heads · d_k = d_model, stores W transposed, and masks the forbidden.
    layer, x, mask = layer_of(WIDTH), drawn(2, 5, WIDTH), masks.build(rule, 5, 5)
    module = nn.MultiheadAttention(WIDTH, HEADS, bias=False, batch_first=True, dtype=x.dtype)
    projections = [layer.w_query.T, layer.w_key.T, layer.w_value.T]
    forbidden = ~mask.expand(2, HEADS, 5, 5).flatten(0, 1)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat(projections))
        module.out_proj.weight.copy_(layer.w_output.T)
        output, weights = module(x, x, x, attn_mask=forbidden, average_attn_weights=False)
    run = multi_head(x, layer, mask)
    assert_close(run.weights, weights)
    assert_close(run.output, output)


def test_what_the_heads_add_is_the_output():
    run = multi_head(drawn(2, 5, D_MODEL), LAYER, CAUSAL)
    added = contributions(run.per_head, LAYER.w_output)
    assert_close(added.sum(dim=-3), run.output)


def test_the_split_copies_nothing_and_the_merge_copies():
    x = drawn(2, 5, WIDTH)
    heads = split_heads(x, HEAD_DIM)
    assert heads.data_ptr() == x.data_ptr()
    x[1, 3, HEAD_DIM] = 7  # the first number of the second head
    assert heads[1, 1, 3, 0] == 7
    per_head = multi_head(x, layer_of(WIDTH), CAUSAL).per_head
    merged = merge_heads(per_head)
    assert merged.data_ptr() != per_head.data_ptr()
    per_head[1, 1, 3, 0] = 7
    assert merged[1, 3, HEAD_DIM] != 7


def test_parameters_are_counted():
    matrices = (LAYER.w_query, LAYER.w_key, LAYER.w_value, LAYER.w_output)
    held = sum(matrix.numel() for matrix in matrices)
    assert parameters(D_MODEL, HEADS, HEADS, HEAD_DIM) == held
    assert parameters(512, 8, 8, 64) == parameters(512, 1, 1, 512) == 1_048_576
    with pytest.raises(ValueError, match="10 query heads cannot share 4 KV heads"):
        parameters(64, 10, 4, 6)


def sized(heads, kv_heads, head_dim=HEAD_DIM, d_model=D_MODEL):
    wide, narrow = drawn(d_model, heads * head_dim), drawn(d_model, kv_heads * head_dim)
    return MultiHead(wide, narrow, narrow, drawn(heads * head_dim, d_model), head_dim)


@pytest.mark.parametrize(("heads", "kv_heads"), [(10, 4), (2, 4), (4, 0)])
def test_heads_that_cannot_share_are_refused_with_their_sizes(heads, kv_heads):
    said = f"{heads} query heads cannot share {kv_heads} KV heads"
    with pytest.raises(ValueError, match=said if kv_heads else "0 columns cannot be cut into KV"):
        sized(heads, kv_heads)


def test_matrices_that_do_not_fit_are_refused_with_their_sizes():
    with pytest.raises(ValueError, match="12 columns cannot be cut into query heads of d_k 5"):
        MultiHead(LAYER.w_query, LAYER.w_key, LAYER.w_value, LAYER.w_output, 5)
    with pytest.raises(ValueError, match="12 columns cannot be cut into whole heads of d_k 5"):
        split_heads(drawn(7, WIDTH), 5)
    with pytest.raises(ValueError, match="12 columns cannot be cut into query heads of d_k 0"):
        MultiHead(LAYER.w_query, LAYER.w_key, LAYER.w_value, LAYER.w_output, 0)
    with pytest.raises(ValueError, match=re.escape("not [(14, 12), (14, 4), (12, 14)]")):
        MultiHead(LAYER.w_query, LAYER.w_key, LAYER.w_value[:, :4], LAYER.w_output, HEAD_DIM)
    with pytest.raises(ValueError, match=re.escape("not [(14, 12), (14, 12), (12, 9)]")):
        MultiHead(LAYER.w_query, LAYER.w_key, LAYER.w_value, LAYER.w_output[:, :9], HEAD_DIM)
