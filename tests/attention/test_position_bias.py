"""Biases of distance: ALiBi as BLOOM has it, and T5's buckets."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch.testing import assert_close
from transformers import T5Config
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention

from explainers.attention import masks
from explainers.attention.position_bias import (
    alibi_bias,
    alibi_slopes,
    biased_attention,
    both_ways,
    bucket,
    relative_bias,
)


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


OFFSET = torch.arange(-300, 300)


@pytest.mark.parametrize(("buckets", "farthest"), [(32, 128), (8, 9), (16, 50)])
def test_agrees_with_transformers_t5(buckets, farthest):
    theirs = T5Attention._relative_position_bucket
    shape = {"num_buckets": buckets, "max_distance": farthest}
    decoder = theirs(-OFFSET, bidirectional=False, **shape)
    encoder = theirs(-OFFSET, bidirectional=True, **shape)
    assert bucket(OFFSET, buckets, farthest).tolist() == decoder.tolist()
    assert both_ways(OFFSET, buckets, farthest).tolist() == encoder.tolist()


def test_the_bias_is_that_of_a_decoder_that_has_read_two_tokens():
    torch.manual_seed(0)
    config = T5Config(num_heads=3, d_model=6, d_kv=2, is_decoder=True)
    layer = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    offset = torch.arange(2, 7)[:, None] - torch.arange(7)
    table = layer.relative_attention_bias.weight
    ours = relative_bias(table, bucket(offset, 32, 128))
    assert_close(ours, layer.compute_bias(5, 7, past_seen_tokens=2)[0])
