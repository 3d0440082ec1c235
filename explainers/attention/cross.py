"""Queries of one sequence, keys and values of another (Vaswani et al. 2017, section 3.2.3).

>>> import torch
>>> hide_padding(torch.tensor([1]), kv_len=3)  # of a source of one word, filled up to three
tensor([[[[ True, False, False]]]])
"""

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor

from explainers.attention import masks
from explainers.attention.layer import MultiHead
from explainers.attention.multi_head import ManyHeads, merge_heads, split_heads
from explainers.attention.scaled_dot_product import Attention, attention

Attend = Callable[[Tensor, Tensor, Tensor, Tensor], Attention]
"""`attention`, or what is to be tried instead of it: query, key, value and mask go in."""


class Source(NamedTuple):
    """What a layer needs of the other sequence; no word of this one can change it."""

    key: Tensor
    value: Tensor


def read_source(source: Tensor, layer: MultiHead) -> Source:
    """Keys and values of `source` (..., kv_len, d_model): once, however many words ask later."""
    key = split_heads(source @ layer.w_key, layer.head_dim)  # (..., heads, kv_len, head_dim)
    value = split_heads(source @ layer.w_value, layer.head_dim)  # (..., heads, kv_len, head_dim)
    return Source(key, value)


def hide_padding(lengths: Tensor, kv_len: int) -> Tensor:
    """One row for all queries: the source's first words are real, what fills it up is hidden.

    `lengths` (batch,) are the true ones. No causal rule: the source was read before, as a whole.
    """
    mask = masks.build(masks.padding(lengths), 1, kv_len)  # (batch, 1, 1, kv_len)
    return mask


def cross_attention(
    x: Tensor, source: Source, layer: MultiHead, mask: Tensor, attend: Attend = attention
) -> ManyHeads:
    """Each vector of `x` (..., q_len, d_model) looks at every word of the other sequence.

    The weights are a rectangle. As ever a row sums to 1; a column may sum to anything.
    """
    query = split_heads(x @ layer.w_query, layer.head_dim)  # (..., heads, q_len, head_dim)
    scores, weights, per_head = attend(query, source.key, source.value, mask)
    output = merge_heads(per_head) @ layer.w_output  # (..., q_len, d_model)
    return ManyHeads(query, *source, scores, weights, per_head, output)
