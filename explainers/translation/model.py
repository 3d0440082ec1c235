"""A small encoder–decoder (Vaswani et al. 2017): all sources at once, syllables one by one."""

import math
from collections.abc import Sequence
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from explainers.attention import masks
from explainers.attention.positions import sinusoidal
from explainers.attention.scaled_dot_product import attention
from explainers.examples import LONGEST
from explainers.translation.layers import (
    Attend,
    DecoderBlock,
    DecoderLayer,
    EncoderBlock,
    EncoderLayer,
    Rows,
)
from explainers.translation.vocabulary import PAD, Padded, english, vietnamese

D_MODEL, NUM_HEADS, HEAD_DIM, WIDTH, LAYERS = 96, 4, 24, 192, 2
DROPOUT = 0.1
PLAIN: tuple[Attend, ...] = (attention,) * LAYERS
"""What each decoder layer's cross-attention computes, unless something else is put in its place."""


class Encoded(NamedTuple):
    """The source after the encoder (batch, kv_len, d_model), and which places may be seen."""

    blocks: tuple[EncoderBlock, ...]
    output: Tensor
    mask: Tensor


class State(NamedTuple):
    """What is kept between two syllables, for each decoder layer.

    Rows of the source are computed once and stay; rows of the syllables grow by one at each step.
    """

    source: tuple[Rows, ...]
    mask: Tensor
    past: tuple[Rows, ...]

    @property
    def seen(self) -> int:
        return self.past[0].key.shape[-2]


class Decoded(NamedTuple):
    """Scores of every syllable as the next one (batch, q_len, syllables), and how they came."""

    logits: Tensor
    blocks: tuple[DecoderBlock, ...]
    state: State


class Transformer(nn.Module):
    """Reads numbers of words and says which syllable comes next."""

    def __init__(self) -> None:
        super().__init__()
        sizes = D_MODEL, HEAD_DIM, WIDTH, DROPOUT
        self.words = nn.Parameter(torch.randn(len(english().tokens), D_MODEL) / D_MODEL**0.5)
        self.syllables = nn.Parameter(torch.randn(len(vietnamese().tokens), D_MODEL) / D_MODEL**0.5)
        self.encoder = nn.ModuleList(EncoderLayer(*sizes) for _ in range(LAYERS))
        self.decoder = nn.ModuleList(DecoderLayer(*sizes) for _ in range(LAYERS))
        self.norm_encoder, self.norm_decoder = nn.LayerNorm(D_MODEL), nn.LayerNorm(D_MODEL)
        self.drop = nn.Dropout(DROPOUT)

    def encode(self, source: Padded, left_out: Sequence[int] = ()) -> Encoded:
        """Read whole sentences; the places `left_out` are hidden from everybody."""
        hidden = torch.tensor(left_out, dtype=torch.long)
        seen = masks.Rule(
            lambda query_pos, key_pos: (query_pos >= 0) & ~torch.isin(key_pos, hidden)
        )
        rule = masks.padding(source.lengths) & seen
        # One row for all queries: who may be seen does not depend on who looks.
        mask = masks.build(rule, 1, source.numbers.shape[-1])
        x, blocks = self._embedded(self.words, source.numbers, 0), []
        for layer in self.encoder:
            blocks.append(layer(x, mask))
            x = blocks[-1].output
        return Encoded(tuple(blocks), self.norm_encoder(x), mask)

    def begin(self, encoded: Encoded) -> State:
        """No syllable yet; keys and values of the source, once for all steps."""
        source = tuple(layer.cross.rows(encoded.output) for layer in self._decoder)
        batch = encoded.output.shape[0]
        nothing = encoded.output.new_zeros(batch, NUM_HEADS, 0, HEAD_DIM)
        return State(source, encoded.mask, (Rows(nothing, nothing),) * LAYERS)

    def decode(self, numbers: Tensor, state: State, attend: Sequence[Attend] = PLAIN) -> Decoded:
        """Go on with some syllables (batch, q_len); row t is computed from t and predicts t + 1."""
        q_len = numbers.shape[-1]
        mask = masks.build(masks.causal, q_len, state.seen + q_len)
        x, blocks = self._embedded(self.syllables, numbers, state.seen), []
        each = zip(self._decoder, state.past, state.source, attend, strict=True)
        for layer, past, source, own_attend in each:
            blocks.append(layer(x, past, mask, source, state.mask, own_attend))
            x = blocks[-1].output
        logits = self.norm_decoder(x) @ self.syllables.T
        kept = tuple(Rows(block.own.key, block.own.value) for block in blocks)
        return Decoded(logits, tuple(blocks), state._replace(past=kept))

    @property
    def _decoder(self) -> Sequence[DecoderLayer]:
        return cast(Sequence[DecoderLayer], self.decoder)

    def _embedded(self, table: Tensor, numbers: Tensor, position: int) -> Tensor:
        """Embedding + position; filling, and a syllable hidden in training, is no vector."""
        rows = embedding(numbers, table) * (numbers != PAD)[..., None]
        places = sinusoidal(position + numbers.shape[-1], D_MODEL, LONGEST)[position:]
        return self.drop(rows * math.sqrt(D_MODEL) + places)
