"""A block of an encoder (Vaswani et al. 2017, section 3.1), normalised first (Xiong et al. 2020).

"First": each part reads its input normalised, and adds its output to the input as it was.
"""

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor
from torch.nn.functional import layer_norm

from explainers.attention.layer import MultiHead
from explainers.attention.multi_head import ManyHeads, multi_head


@dataclass(frozen=True)
class FeedForward:
    """Two matrices that work on each word alone."""

    w_in: Tensor
    """(d_model, hidden)"""
    b_in: Tensor
    """(hidden,)"""
    w_out: Tensor
    """(hidden, d_model)"""
    b_out: Tensor
    """(d_model,)"""


class Norm(NamedTuple):
    """What each number of a normalised vector is multiplied by, and what is added to it."""

    gain: Tensor
    shift: Tensor


@dataclass(frozen=True)
class EncoderBlock:
    """What a block learns: its two parts, and a norm for the input of each."""

    own: MultiHead
    feed: FeedForward
    norms: tuple[Norm, Norm]


class Encoded(NamedTuple):
    """What a block computed, in the order it was computed."""

    own: ManyHeads
    after_own: Tensor
    fed: Tensor
    output: Tensor


def normalise(x: Tensor, norm: Norm) -> Tensor:
    """Each word's vector with mean 0 and variance 1, then stretched as was learned."""
    normal = layer_norm(x, norm.gain.shape, *norm)  # (..., q_len, d_model)
    return normal


def feed_forward(x: Tensor, feed: FeedForward) -> Tensor:
    """The same for every word, and no word sees another; what is below 0 is cut off."""
    hidden = (x @ feed.w_in + feed.b_in).relu()  # (..., q_len, hidden)
    fed = hidden @ feed.w_out + feed.b_out  # (..., q_len, d_model)
    return fed


def encoder_block(x: Tensor, block: EncoderBlock, mask: Tensor) -> Encoded:
    """The words look at each other, both ways; then each is worked on alone."""
    own = multi_head(normalise(x, block.norms[0]), block.own, mask)
    after_own = x + own.output  # (..., q_len, d_model)
    fed = feed_forward(normalise(after_own, block.norms[1]), block.feed)
    output = after_own + fed  # (..., q_len, d_model)
    return Encoded(own, after_own, fed, output)
