"""A learned number per distance: relative position bias, T5's (Raffel et al. 2020, section 2.1)."""

import math

import torch
from torch import Tensor


def bucket(offset: Tensor, buckets: int, farthest: int) -> Tensor:
    """Which row of the table a distance reads; `offset` is how many places back the key stands.

    The first half of the buckets are single distances, the others grow like a logarithm, and all
    from `farthest` on share the last. A key ahead of its query counts as distance 0, as for a
    decoder; an encoder's two directions have half of the table each, see `both_ways`.
    """
    near = buckets // 2
    back = offset.clamp(min=0)  # (q_len, kv_len)
    far = torch.log(back.clamp(min=1) / near) / math.log(farthest / near)  # (q_len, kv_len)
    grown = near + (far * (buckets - near)).long()  # (q_len, kv_len)
    which = torch.where(back < near, back, grown.clamp(max=buckets - 1))  # (q_len, kv_len)
    return which


def both_ways(offset: Tensor, buckets: int, farthest: int) -> Tensor:
    """The same for an encoder: the second half of the table is for keys that are ahead."""
    half = buckets // 2
    which = bucket(offset.abs(), half, farthest) + half * (offset < 0)  # (q_len, kv_len)
    return which


def relative_bias(table: Tensor, which: Tensor) -> Tensor:
    """What is added to each score: `table` (buckets, heads) at the bucket of the two places.

    All layers of T5 share one table; the sum is `alibi.biased_attention`.
    """
    bias = table[which].permute(2, 0, 1)  # (heads, q_len, kv_len)
    return bias
