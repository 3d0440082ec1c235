"""Cross-attention, and the block of a decoder (Vaswani et al. 2017, sections 3.2.3 and 3.1).

>>> import torch
>>> hide_padding(torch.tensor([1]), kv_len=3)  # of a source of one word, filled up to three
tensor([[[[ True, False, False]]]])
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from explainers.attention import masks
from explainers.attention.encoder_block import FeedForward, Norm, feed_forward, normalise
from explainers.attention.layer import MultiHead
from explainers.attention.multi_head import ManyHeads, merge_heads, multi_head, split_heads
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


@dataclass(frozen=True)
class DecoderBlock:
    """What a block learns: its three parts, and a norm for the input of each."""

    own: MultiHead
    cross: MultiHead
    feed: FeedForward
    norms: tuple[Norm, Norm, Norm]


class Decoded(NamedTuple):
    """What a block computed, in the order it was computed."""

    own: ManyHeads
    after_own: Tensor
    cross: ManyHeads
    after_cross: Tensor
    fed: Tensor
    output: Tensor


def decoder_block(
    x: Tensor,
    source: Source,
    block: DecoderBlock,
    mask: Tensor,
    source_mask: Tensor,
    attend: Attend = attention,
) -> Decoded:
    """Look back at what is written, look at the source, then work on each word alone.

    Each part adds to its input; `mask` is for what is written, `source_mask` for the source.
    """
    own = multi_head(normalise(x, block.norms[0]), block.own, mask)
    after_own = x + own.output  # (..., q_len, d_model)
    asking = normalise(after_own, block.norms[1])
    cross = cross_attention(asking, source, block.cross, source_mask, attend)
    after_cross = after_own + cross.output  # (..., q_len, d_model)
    fed = feed_forward(normalise(after_cross, block.norms[2]), block.feed)
    output = after_cross + fed  # (..., q_len, d_model)
    return Decoded(own, after_own, cross, after_cross, fed, output)
