"""A small encoder–decoder (Vaswani et al. 2017) of the blocks that the page shows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import embedding

from explainers.attention import masks
from explainers.attention.cross import Attend, Source, read_source
from explainers.attention.decoder_block import Decoded, DecoderBlock, decoder_block
from explainers.attention.encoder_block import (
    Encoded,
    EncoderBlock,
    FeedForward,
    Norm,
    encoder_block,
    normalised,
)
from explainers.attention.layer import MultiHead
from explainers.attention.positions import sinusoidal
from explainers.attention.scaled_dot_product import attention
from explainers.toys.examples import LONGEST, generator
from explainers.translation.vocabulary import PAD, Padded, english, vietnamese

D_MODEL, NUM_HEADS, HEAD_DIM, HIDDEN, LAYERS = 96, 4, 24, 192, 2
MATRICES = ("w_query", "w_key", "w_value", "w_output")
FEED = ("w_in", "b_in", "w_out", "b_out")
ENCODER, DECODER = (
    [f"{side}.{layer}" for layer in range(LAYERS)] for side in ("encoder", "decoder")
)


def shapes() -> dict[str, tuple[int, ...]]:
    """The name and the shape of everything that is learned."""
    found: dict[str, tuple[int, ...]] = {
        "words": (len(english().tokens), D_MODEL),
        "syllables": (len(vietnamese().tokens), D_MODEL),
    }
    heads = [f"{block}.own" for block in ENCODER + DECODER] + [
        f"{block}.cross" for block in DECODER
    ]
    width = NUM_HEADS * HEAD_DIM
    for name in heads:
        found |= {f"{name}.{matrix}": (D_MODEL, width) for matrix in MATRICES[:3]}
        found[f"{name}.{MATRICES[3]}"] = (width, D_MODEL)
    for block in ENCODER + DECODER:
        sizes = (D_MODEL, HIDDEN), (HIDDEN,), (HIDDEN, D_MODEL), (D_MODEL,)
        found |= {f"{block}.{part}": size for part, size in zip(FEED, sizes, strict=True)}
    norms = [f"{name}.norm" for name in [*heads, *ENCODER, *DECODER, "encoder", "decoder"]]
    for norm in norms:
        found |= {f"{norm}.gain": (D_MODEL,), f"{norm}.shift": (D_MODEL,)}
    return found


def fresh(seed: int) -> dict[str, Tensor]:
    """Random vectors and matrices (Glorot and Bengio 2010); gains are 1, shifts and biases 0."""
    return {name: _drawn(name, shape, seed) for name, shape in shapes().items()}


def _drawn(name: str, shape: tuple[int, ...], seed: int) -> Tensor:
    if len(shape) == 1:
        return torch.ones(shape) if name.endswith("gain") else torch.zeros(shape)
    seeded = generator("translator", seed, name)
    if "." not in name:
        return torch.randn(shape, generator=seeded) / D_MODEL**0.5
    reach = (6 / sum(shape)) ** 0.5
    return (2 * torch.rand(shape, generator=seeded) - 1) * reach


PLAIN: tuple[Attend, ...] = (attention,) * LAYERS
"""What each decoder block's cross-attention computes, unless something else is put in its place."""


class Read(NamedTuple):
    """The source after the encoder: what each block computed from `x`, and the decoder's view.

    `sources` holds its keys and values for each decoder block: computed once, for all syllables.
    """

    x: Tensor
    blocks: tuple[Encoded, ...]
    output: Tensor
    mask: Tensor
    sources: tuple[Source, ...]


class Predicted(NamedTuple):
    """Scores of every syllable as the next one (batch, q_len, syllables), and how they came."""

    x: Tensor
    blocks: tuple[Decoded, ...]
    logits: Tensor


@dataclass(frozen=True)
class Model:
    """All that is learned: a vector for each word and syllable, blocks, and a last norm each."""

    words: Tensor
    syllables: Tensor
    encoder: tuple[EncoderBlock, ...]
    decoder: tuple[DecoderBlock, ...]
    norms: tuple[Norm, Norm]

    @classmethod
    def of(cls, parts: Mapping[str, Tensor]) -> "Model":
        """Put together what training or a file holds under the names of `shapes`."""

        def heads(name: str) -> MultiHead:
            query, key, value, output = (parts[f"{name}.{matrix}"] for matrix in MATRICES)
            return MultiHead(query, key, value, output, HEAD_DIM)

        def feed(name: str) -> FeedForward:
            return FeedForward(*(parts[f"{name}.{part}"] for part in FEED))

        def norm(name: str) -> Norm:
            return Norm(parts[f"{name}.norm.gain"], parts[f"{name}.norm.shift"])

        encoder, decoder = [], []
        for name in ENCODER:
            own = f"{name}.own"
            encoder.append(EncoderBlock(heads(own), feed(name), (norm(own), norm(name))))
        for name in DECODER:
            own, cross = f"{name}.own", f"{name}.cross"
            norms = norm(own), norm(cross), norm(name)
            decoder.append(DecoderBlock(heads(own), heads(cross), feed(name), norms))
        last = norm("encoder"), norm("decoder")
        return cls(parts["words"], parts["syllables"], tuple(encoder), tuple(decoder), last)

    def read(self, source: Padded, left_out: Sequence[int] = ()) -> Read:
        """Read whole sentences; the places `left_out` are hidden from everybody."""
        hidden = torch.tensor(left_out, dtype=torch.long)
        rule = masks.padding(source.lengths) & masks.Rule(
            lambda query_pos, key_pos: (query_pos >= 0) & ~torch.isin(key_pos, hidden)
        )
        # One row for all queries: who may be seen does not depend on who looks.
        mask = masks.build(rule, 1, source.numbers.shape[-1])
        x = embedded(self.words, source.numbers)
        blocks: list[Encoded] = []
        for block in self.encoder:
            blocks.append(encoder_block(blocks[-1].output if blocks else x, block, mask))
        output = normalised(blocks[-1].output, self.norms[0])
        sources = tuple(read_source(output, block.cross) for block in self.decoder)
        return Read(x, tuple(blocks), output, mask, sources)

    def predict(self, numbers: Tensor, source: Read, attend: Sequence[Attend] = PLAIN) -> Predicted:
        """Row t of `numbers` (batch, q_len) holds what came before; it predicts what comes next."""
        x = embedded(self.syllables, numbers)
        mask = masks.build(masks.causal, numbers.shape[-1], numbers.shape[-1])
        blocks: list[Decoded] = []
        for block, rows, own in zip(self.decoder, source.sources, attend, strict=True):
            before = blocks[-1].output if blocks else x
            blocks.append(decoder_block(before, rows, block, mask, source.mask, own))
        logits = normalised(blocks[-1].output, self.norms[1]) @ self.syllables.T
        return Predicted(x, tuple(blocks), logits)


def embedded(table: Tensor, numbers: Tensor) -> Tensor:
    """Embedding + position; filling, and a syllable that training hides, has no vector."""
    rows = embedding(numbers, table) * (numbers != PAD)[..., None]
    return rows * math.sqrt(D_MODEL) + sinusoidal(numbers.shape[-1], D_MODEL, LONGEST)
