"""T5's relative position bias: its own buckets and its own bias, and what shares a bucket."""

import pytest
import torch
from torch.testing import assert_close
from transformers import T5Config
from transformers.models.t5.modeling_t5 import T5Attention

from explainers.attention.position_bias import both_ways, bucket, relative_bias

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
