"""Weights of cross-attention over test sentences, in batches."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from explainers.translation.corpus import SentencePair
from explainers.translation.model import Model
from explainers.translation.vocabulary import BEGIN, encode_sources, pad_rows, vietnamese_vocabulary

BATCH_SIZE = 100


@torch.no_grad()
def compute_cross_weights(model: Model, pairs: Sequence[SentencePair]) -> Iterator[Tensor]:
    """Weights of cross-attention while the model is given the corpus' own translations.

    One tensor for each pair, in their order (layers, heads, syllables + 1, words + 1).
    """
    for batch in cut_batches(pairs):
        source = model.encode(encode_sources(pair.source for pair in batch))
        decoder_input = pad_rows(
            [[BEGIN, *vietnamese_vocabulary().encode(pair.target)] for pair in batch]
        ).ids
        blocks = model.predict(decoder_input, source).blocks
        batch_weights = torch.stack([block.cross.weights for block in blocks], dim=1)
        for weights, pair in zip(batch_weights, batch, strict=True):
            yield weights[..., : len(pair.target) + 1, : len(pair.source) + 1]


def cut_batches(pairs: Sequence[SentencePair]) -> Iterator[Sequence[SentencePair]]:
    for first in range(0, len(pairs), BATCH_SIZE):
        yield pairs[first : first + BATCH_SIZE]
