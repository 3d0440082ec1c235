"""A block of a decoder that reads another sequence (Vaswani et al. 2017, section 3.1)."""

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from explainers.attention.cross import Attend, Source, cross_attention
from explainers.attention.encoder_block import FeedForward, Norm, feed_forward, normalise
from explainers.attention.layer import MultiHead
from explainers.attention.multi_head import ManyHeads, multi_head
from explainers.attention.scaled_dot_product import attention


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
