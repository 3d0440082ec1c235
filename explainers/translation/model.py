"""A small encoder–decoder (Vaswani et al. 2017) of the blocks in `attention`; its ablations."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import embedding

from explainers.attention import masks
from explainers.attention.decoder_block import (
    Attend,
    Decoded,
    DecoderBlock,
    Source,
    decoder_block,
    read_source,
)
from explainers.attention.encoder_block import (
    Encoded,
    EncoderBlock,
    FeedForward,
    Norm,
    encoder_block,
    normalise,
)
from explainers.attention.layer import MultiHead
from explainers.attention.positions import sinusoidal
from explainers.attention.scaled_dot_product import Attention, attention
from explainers.toys.examples import LONGEST, make_generator
from explainers.translation.corpus import PAD, PaddedIds, english_vocabulary, vietnamese_vocabulary

D_MODEL, NUM_HEADS, HEAD_DIM, HIDDEN_DIM, NUM_LAYERS = 96, 4, 24, 192, 2
MATRICES = ("w_query", "w_key", "w_value", "w_output")
FEED_FORWARD = ("w_in", "b_in", "w_out", "b_out")
ENCODER, DECODER = (
    [f"{side}.{layer}" for layer in range(NUM_LAYERS)] for side in ("encoder", "decoder")
)


def list_shapes() -> dict[str, tuple[int, ...]]:
    """The name and shape of every parameter."""
    shapes: dict[str, tuple[int, ...]] = {
        "words": (len(english_vocabulary().tokens), D_MODEL),
        "syllables": (len(vietnamese_vocabulary().tokens), D_MODEL),
    }
    layer_names = [f"{block}.own" for block in ENCODER + DECODER] + [
        f"{block}.cross" for block in DECODER
    ]
    heads_width = NUM_HEADS * HEAD_DIM
    for name in layer_names:
        shapes |= {f"{name}.{matrix}": (D_MODEL, heads_width) for matrix in MATRICES[:3]}
        shapes[f"{name}.{MATRICES[3]}"] = (heads_width, D_MODEL)
    for block in ENCODER + DECODER:
        sizes = (D_MODEL, HIDDEN_DIM), (HIDDEN_DIM,), (HIDDEN_DIM, D_MODEL), (D_MODEL,)
        shapes |= {
            f"{block}.{part_name}": size
            for part_name, size in zip(FEED_FORWARD, sizes, strict=True)
        }
    norms = [f"{name}.norm" for name in [*layer_names, *ENCODER, *DECODER, "encoder", "decoder"]]
    for norm in norms:
        shapes |= {f"{norm}.gain": (D_MODEL,), f"{norm}.shift": (D_MODEL,)}
    return shapes


PLAIN_ATTENTION: tuple[Attend, ...] = (attention,) * NUM_LAYERS
"""The plain attention function for the cross-attention of each decoder block."""


class EncodedSource(NamedTuple):
    """The source after the encoder: its embedding `x`, each block's steps, and the output.

    `sources` holds keys and values for each decoder block, computed once for all syllables.
    """

    x: Tensor
    blocks: tuple[Encoded, ...]
    output: Tensor
    mask: Tensor
    sources: tuple[Source, ...]


class Prediction(NamedTuple):
    """Logits of the next syllable (batch, q_len, syllables), and the steps that led to them."""

    x: Tensor
    blocks: tuple[Decoded, ...]
    logits: Tensor


@dataclass(frozen=True)
class Model:
    """All parameters: vectors of words and syllables, blocks, and the last norm of both sides."""

    words: Tensor
    syllables: Tensor
    encoder: tuple[EncoderBlock, ...]
    decoder: tuple[DecoderBlock, ...]
    norms: tuple[Norm, Norm]

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Tensor]) -> "Model":
        """The model made of parameters under the names of `list_shapes`."""

        def heads(name: str) -> MultiHead:
            query, key, value, output = (parameters[f"{name}.{matrix}"] for matrix in MATRICES)
            return MultiHead(query, key, value, output, HEAD_DIM)

        def feed(name: str) -> FeedForward:
            return FeedForward(
                *(parameters[f"{name}.{matrix_name}"] for matrix_name in FEED_FORWARD)
            )

        def norm(name: str) -> Norm:
            return Norm(parameters[f"{name}.norm.gain"], parameters[f"{name}.norm.shift"])

        encoder, decoder = [], []
        for name in ENCODER:
            self_name = f"{name}.own"
            encoder.append(
                EncoderBlock(heads(self_name), feed(name), (norm(self_name), norm(name)))
            )
        for name in DECODER:
            self_name, cross_name = f"{name}.own", f"{name}.cross"
            norms = norm(self_name), norm(cross_name), norm(name)
            decoder.append(DecoderBlock(heads(self_name), heads(cross_name), feed(name), norms))
        last_norms = norm("encoder"), norm("decoder")
        return cls(
            parameters["words"], parameters["syllables"], tuple(encoder), tuple(decoder), last_norms
        )

    def encode(self, source: PaddedIds) -> EncodedSource:
        """Run the encoder over whole sentences; no query may look at what fills them up."""
        # One row for all queries: who may be seen does not depend on who looks.
        mask = masks.build(masks.padding(source.lengths), 1, source.ids.shape[-1])
        x = embed(self.words, source.ids)
        blocks: list[Encoded] = []
        for block in self.encoder:
            blocks.append(encoder_block(blocks[-1].output if blocks else x, block, mask))
        output = normalise(blocks[-1].output, self.norms[0])
        sources = tuple(read_source(output, block.cross) for block in self.decoder)
        return EncodedSource(x, tuple(blocks), output, mask, sources)

    def predict(
        self, ids: Tensor, source: EncodedSource, attend: Sequence[Attend] = PLAIN_ATTENTION
    ) -> Prediction:
        """Run the decoder: row t of `ids` (batch, q_len) predicts the syllable that follows it."""
        x = embed(self.syllables, ids)
        mask = masks.build(masks.causal, ids.shape[-1], ids.shape[-1])
        blocks: list[Decoded] = []
        for block, block_source, block_attend in zip(
            self.decoder, source.sources, attend, strict=True
        ):
            block_input = blocks[-1].output if blocks else x
            blocks.append(
                decoder_block(block_input, block_source, block, mask, source.mask, block_attend)
            )
        logits = normalise(blocks[-1].output, self.norms[1]) @ self.syllables.T
        return Prediction(x, tuple(blocks), logits)


def embed(table: Tensor, ids: Tensor) -> Tensor:
    """Embedding + position; padding, and syllables hidden in training, have no embedding."""
    vectors = embedding(ids, table) * (ids != PAD)[..., None]
    return vectors * math.sqrt(D_MODEL) + sinusoidal(ids.shape[-1], D_MODEL, LONGEST)


def uniform_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Attention:
    """Attention whose weights are the same for all visible words."""
    original = attention(query, key, value, mask)
    allowed = mask.expand_as(original.weights).to(value.dtype)
    return _replace_weights(original, allowed / allowed.sum(dim=-1, keepdim=True), value)


def peak_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Attention:
    """Attention whose largest weight becomes 1 and all others 0."""
    original = attention(query, key, value, mask)
    peak = original.weights.argmax(dim=-1, keepdim=True)
    return _replace_weights(
        original, torch.zeros_like(original.weights).scatter(-1, peak, 1.0), value
    )


def permuted_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Attention:
    """Attention whose weights are permuted within each row, alike in all heads.

    A row's permutation depends on its position alone, so that writing step by step gives the same
    weights as one pass over all rows.
    """
    original = attention(query, key, value, mask)
    allowed = mask.expand_as(original.weights)
    q_len, kv_len = allowed.shape[-2:]
    random_order = torch.rand(q_len, kv_len, generator=make_generator("exchanged weights")).to(
        value.device
    )
    shuffled_keys = random_order.masked_fill(~allowed, 2.0).argsort(dim=-1)
    visible_keys = (~allowed).to(torch.uint8).argsort(dim=-1, stable=True)
    shuffled_weights = original.weights.gather(-1, shuffled_keys)
    return _replace_weights(
        original,
        torch.zeros_like(shuffled_weights).scatter(-1, visible_keys, shuffled_weights),
        value,
    )


def _replace_weights(original: Attention, weights: Tensor, value: Tensor) -> Attention:
    return Attention(original.scores, weights, weights @ value)
