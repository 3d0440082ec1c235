"""Biases of distance: ALiBi as BLOOM has it."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch.testing import assert_close
from transformers.models.bloom.modeling_bloom import build_alibi_tensor

from explainers.attention import masks
from explainers.attention.position_bias import alibi_bias, alibi_slopes, biased_attention


def drawn(*axes):
    return torch.randn(*axes, generator=torch.Generator().manual_seed(sum(axes)))


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
def test_agrees_with_torch_under_every_rule(rule):
    query, key, value = drawn(2, 3, 5, 11), drawn(2, 3, 7, 11), drawn(2, 3, 7, 4)
    mask, bias = masks.build(masks.RULES[rule], 5, 7), alibi_bias(alibi_slopes(3), 5, 7)
    added = bias.masked_fill(~mask, -torch.inf)
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=added)
    assert_close(biased_attention(query, key, value, mask, bias).output, expected)


def test_no_heads_have_no_slopes():
    with pytest.raises(ValueError, match="0 heads have no slopes"):
        alibi_slopes(0)


def test_each_step_away_costs_the_slope():
    bias = alibi_bias(torch.tensor([0.5, 0.25]), 2, 4)
    assert bias[0].tolist() == [[-1.0, -0.5, 0.0, -0.5], [-1.5, -1.0, -0.5, 0.0]]
    assert_close(bias[1], bias[0] / 2)
