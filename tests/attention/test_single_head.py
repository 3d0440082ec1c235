"""From token vectors to output: against torch's own head, and by its laws."""

import re

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch.testing import assert_close

from explainers.attention import masks
from explainers.attention.single_head import SingleHead, projection_parameters, single_head

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


def test_matrices_that_do_not_fit_are_refused_with_their_sizes():
    with pytest.raises(ValueError, match=re.escape("not (13, 11) and (13, 4)")):
        SingleHead(HEAD.w_query, HEAD.w_value, HEAD.w_value)
    with pytest.raises(ValueError, match="not 11 and 13"):
        SingleHead(HEAD.w_query, HEAD.w_key, drawn(HEAD_DIM, VALUE_DIM))


def test_parameters_are_counted():
    held = HEAD.w_query.numel() + HEAD.w_key.numel() + HEAD.w_value.numel()
    assert projection_parameters(D_MODEL, HEAD_DIM, VALUE_DIM) == held
    assert projection_parameters(12_288, 12_288, 12_288) == 452_984_832  # a layer of GPT-3
