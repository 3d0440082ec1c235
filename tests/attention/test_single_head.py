"""From token vectors to output: against torch's own head, and by its laws."""

import re
from dataclasses import FrozenInstanceError

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.testing import assert_close

from explainers.attention import masks
from explainers.attention.single_head import SingleHead, project, projection_parameters, single_head

D_MODEL, HEAD_DIM, VALUE_DIM = 13, 11, 4


def drawn(*axes):
    return torch.randn(*axes, generator=torch.Generator().manual_seed(sum(axes)))


HEAD = SingleHead(drawn(D_MODEL, HEAD_DIM), drawn(D_MODEL, HEAD_DIM) - 1, drawn(D_MODEL, VALUE_DIM))


def test_agrees_with_torch():
    x, mask = drawn(2, 5, D_MODEL), masks.build(masks.causal, 5, 5)
    query, key, value = x @ HEAD.w_query, x @ HEAD.w_key, x @ HEAD.w_value
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    assert_close(single_head(x, HEAD, mask).output, expected)
    assert expected.shape == (2, 5, VALUE_DIM)


def test_agrees_with_torchs_module_of_one_head():
    # torch's module wants d_k = d_v = d_model, stores W transposed, and its mask says "forbidden".
    x, head = drawn(2, 5, 8), SingleHead(drawn(8, 8), drawn(8, 8) - 1, drawn(8, 8) + 1)
    mask = masks.build(masks.causal, 5, 5)
    module = nn.MultiheadAttention(8, num_heads=1, bias=False, batch_first=True)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat([head.w_query.T, head.w_key.T, head.w_value.T]))
        module.out_proj.weight.copy_(torch.eye(8))
        output, weights = module(x, x, x, attn_mask=~mask)
    run = single_head(x, head, mask)
    assert_close(run.weights, weights)
    assert_close(run.output, output, rtol=1e-5, atol=1e-4)  # values of size 30 averaged


def test_without_positions_shuffled_tokens_give_shuffled_outputs():
    x, mask = drawn(6, D_MODEL), masks.build(masks.full, 6, 6)
    order = [3, 0, 5, 1, 4, 2]
    straight, shuffled = single_head(x, HEAD, mask), single_head(x[order], HEAD, mask)
    assert_close(shuffled.output, straight.output[order])
    assert_close(shuffled.weights, straight.weights[order][:, order])


def test_each_token_is_projected_by_itself():
    x = drawn(5, D_MODEL)
    for whole, alone in zip(project(x, HEAD), project(x[2], HEAD), strict=True):
        assert_close(whole[2], alone)


def test_matrices_that_do_not_fit_are_refused_with_their_sizes():
    with pytest.raises(ValueError, match=re.escape("not (13, 11) and (13, 4)")):
        SingleHead(HEAD.w_query, HEAD.w_value, HEAD.w_value)
    with pytest.raises(ValueError, match="not 11 and 13"):
        SingleHead(HEAD.w_query, HEAD.w_key, drawn(HEAD_DIM, VALUE_DIM))


def test_a_head_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        HEAD.w_query = HEAD.w_key  # type: ignore[misc]


def test_parameters_are_counted():
    held = HEAD.w_query.numel() + HEAD.w_key.numel() + HEAD.w_value.numel()
    assert projection_parameters(D_MODEL, HEAD_DIM, VALUE_DIM) == held
    assert projection_parameters(12_288, 12_288, 12_288) == 452_984_832  # a layer of GPT-3
