"""The layers of an encoder and a decoder (Vaswani et al. 2017, section 3.1), norms in front.

Attention is the pages' own: `multi_head`, and its parts where queries read another sequence.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from explainers.attention.layer import MultiHead
from explainers.attention.multi_head import ManyHeads, merge_heads, multi_head, split_heads
from explainers.attention.scaled_dot_product import Attention, attention

Attend = Callable[[Tensor, Tensor, Tensor, Tensor], Attention]
"""`attention()`, or what is put in its place: query, key, value, mask → scores, weights, output."""


class Rows(NamedTuple):
    """Keys and values (batch, heads, kv_len, head_dim) of a sequence: what can be kept of it."""

    key: Tensor
    value: Tensor


class EncoderBlock(NamedTuple):
    """What one layer made of the source, in the order it was computed."""

    x: Tensor
    own: ManyHeads
    after_own: Tensor
    hidden: Tensor
    output: Tensor


class DecoderBlock(NamedTuple):
    """What one layer made of the syllables, in the order it was computed."""

    x: Tensor
    own: ManyHeads
    after_own: Tensor
    cross: ManyHeads
    after_cross: Tensor
    hidden: Tensor
    output: Tensor


class Heads(nn.Module):
    """The four matrices of a layer of heads, to be learned."""

    def __init__(self, d_model: int, head_dim: int) -> None:
        super().__init__()
        self.head_dim = head_dim
        self.w_query, self.w_key, self.w_value, self.w_output = (
            nn.Parameter(nn.init.xavier_uniform_(torch.empty(d_model, d_model))) for _ in range(4)
        )

    @property
    def layer(self) -> MultiHead:
        return MultiHead(self.w_query, self.w_key, self.w_value, self.w_output, self.head_dim)

    def rows(self, x: Tensor) -> Rows:
        """The keys and values that others may look at."""
        layer = self.layer
        key = split_heads(x @ layer.w_key, layer.head_dim)
        return Rows(key, split_heads(x @ layer.w_value, layer.head_dim))

    def look(self, x: Tensor, rows: Rows, mask: Tensor, attend: Attend = attention) -> ManyHeads:
        """Queries of `x` read the rows of another sequence, or earlier ones of their own."""
        layer = self.layer
        query = split_heads(x @ layer.w_query, layer.head_dim)
        scores, weights, per_head = attend(query, *rows, mask)
        output = merge_heads(per_head) @ layer.w_output
        return ManyHeads(query, *rows, scores, weights, per_head, output)


class FeedForward(nn.Module):
    """Two matrices with a ReLU between them, on each position alone."""

    def __init__(self, d_model: int, width: int) -> None:
        super().__init__()
        self.wide, self.narrow = nn.Linear(d_model, width), nn.Linear(width, d_model)
        for linear in (self.wide, self.narrow):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        """The hidden layer (…, width); `narrow` brings it back."""
        return self.wide(x).relu()


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward, each added to what came in."""

    def __init__(self, d_model: int, head_dim: int, width: int, dropout: float) -> None:
        super().__init__()
        self.own, self.feed = Heads(d_model, head_dim), FeedForward(d_model, width)
        self.norm_own, self.norm_feed = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> EncoderBlock:
        own = multi_head(self.norm_own(x), self.own.layer, mask)
        after_own = x + self.drop(own.output)
        hidden = self.feed(self.norm_feed(after_own))
        output = after_own + self.drop(self.feed.narrow(self.drop(hidden)))
        return EncoderBlock(x, own, after_own, hidden, output)


class DecoderLayer(nn.Module):
    """Causal self-attention, cross-attention and feed-forward, each added to what came in."""

    def __init__(self, d_model: int, head_dim: int, width: int, dropout: float) -> None:
        super().__init__()
        self.own, self.cross = Heads(d_model, head_dim), Heads(d_model, head_dim)
        self.feed = FeedForward(d_model, width)
        self.norm_own, self.norm_cross = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm_feed = nn.LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)

    def forward(
        self, x: Tensor, past: Rows, mask: Tensor, source: Rows, source_mask: Tensor, attend: Attend
    ) -> DecoderBlock:
        """`past` are rows of earlier syllables; those of `x` come behind them."""
        normed = self.norm_own(x)
        new = self.own.rows(normed)
        rows = Rows(*(torch.cat(both, dim=-2) for both in zip(past, new, strict=True)))
        own = self.own.look(normed, rows, mask)
        after_own = x + self.drop(own.output)
        cross = self.cross.look(self.norm_cross(after_own), source, source_mask, attend)
        after_cross = after_own + self.drop(cross.output)
        hidden = self.feed(self.norm_feed(after_cross))
        output = after_cross + self.drop(self.feed.narrow(self.drop(hidden)))
        return DecoderBlock(x, own, after_own, cross, after_cross, hidden, output)
