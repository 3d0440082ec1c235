"""How good a translator is: sentences without a fault, and whether its weights find the words."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.attention.cross import Attend
from explainers.translation.alignment import INPUT, PREDICTED, aer, pooled, read_links
from explainers.translation.corpus import ForTesting, Pair
from explainers.translation.decoding import greedy
from explainers.translation.model import PLAIN, Model
from explainers.translation.parts import LAYERS, NUM_HEADS
from explainers.translation.translator import Translator
from explainers.translation.vocabulary import BEGIN, padded, sources, vietnamese

BATCH = 100
MEAN = "mean of heads"
READINGS = (MEAN, *(f"head {head}" for head in range(NUM_HEADS)))


class Row(NamedTuple):
    """Attention of one decoder layer read in one way, scored against gold.

    `by` says which syllable a row belongs to: the one that it predicts, or its input. `gold` is
    the weight on the right word, `largest` the largest weight in a row: means over all rows.
    """

    layer: int
    reading: str
    by: str
    aer: float
    gold: float
    largest: float


class Measured(NamedTuple):
    """One seed: shares of sentences without a fault, and how each layer aligns.

    `aer` is that of the last layer, mean of heads, rows by the syllable that they predict.
    `aer_if_weak_may_be` counts the links of "đã" in a past tense as possible, not as sure.
    """

    exact_match_unseen: float
    exact_match_held_out_pairs: float
    aer: float
    aer_if_weak_may_be: float
    rows: tuple[Row, ...]


def measured(translator: Translator, tests: ForTesting) -> Measured:
    """Everything about one seed; the alignment over both kinds of tests together."""
    both = [*tests.unseen, *tests.held_out_pairs]
    each = list(zip(attended(translator.model, both), both, strict=True))
    rows = [
        _row(each, layer, reading, by)
        for layer in range(LAYERS)
        for reading in READINGS
        for by in (PREDICTED, INPUT)
    ]
    [last] = (row for row in rows if row[:3] == (LAYERS - 1, MEAN, PREDICTED))
    links = pooled(_links(weights, pair, *last[:3]) for weights, pair in each)
    certain = pooled(pair.sure - pair.weak for pair in both)
    possible = pooled(pair.possible for pair in both)
    return Measured(
        exact_match(translator.model, tests.unseen),
        exact_match(translator.model, tests.held_out_pairs),
        last.aer,
        aer(links, certain, possible).aer,
        tuple(rows),
    )


def exact_match(model: Model, pairs: Sequence[Pair], attend: Sequence[Attend] = PLAIN) -> float:
    """The share of sentences whose greedy translation is the corpus' own, syllable by syllable."""
    right = 0
    for some in _batches(pairs):
        source = model.read(sources(pair.source for pair in some))
        written = greedy(model, source, attend)
        texts = [vietnamese().texts(row) for row in written.tolist()]
        right += sum(text == pair.target for text, pair in zip(texts, some, strict=True))
    return right / len(pairs)


@torch.no_grad()
def attended(model: Model, pairs: Sequence[Pair]) -> Iterator[Tensor]:
    """Cross-attention while the corpus' own translations are written.

    One tensor for each pair, in their order (layers, heads, syllables + 1, words + 1).
    """
    for some in _batches(pairs):
        source = model.read(sources(pair.source for pair in some))
        read = padded([[BEGIN, *vietnamese().numbers(pair.target)] for pair in some]).numbers
        blocks = model.predict(read, source).blocks
        together = torch.stack([block.cross.weights for block in blocks], dim=1)
        for weights, pair in zip(together, some, strict=True):
            yield weights[..., : len(pair.target) + 1, : len(pair.source) + 1]


def _batches(pairs: Sequence[Pair]) -> Iterator[Sequence[Pair]]:
    for first in range(0, len(pairs), BATCH):
        yield pairs[first : first + BATCH]


def _read(weights: Tensor, layer: int, reading: str) -> Tensor:
    """One matrix (syllables + 1, words + 1) of what all heads of all layers computed."""
    heads = weights[layer]
    return heads.mean(dim=0) if reading == MEAN else heads[READINGS.index(reading) - 1]


def _links(weights: Tensor, pair: Pair, layer: int, reading: str, by: str) -> set[tuple[int, int]]:
    matrix = _read(weights, layer, reading)
    return read_links(matrix, len(pair.source), len(pair.target), by)


def _row(each: Sequence[tuple[Tensor, Pair]], layer: int, reading: str, by: str) -> Row:
    links = pooled(_links(weights, pair, layer, reading, by) for weights, pair in each)
    sure, possible = (pooled(getattr(p, kind) for _, p in each) for kind in ("sure", "possible"))
    first = 0 if by == PREDICTED else 1
    gold, largest = [], []
    for weights, pair in each:
        rows = _read(weights, layer, reading)[first : first + len(pair.target)]
        places = torch.tensor([word for _, word in sorted(pair.sure)])
        gold.append(rows[torch.arange(len(rows)), places])
        largest.append(rows.amax(dim=-1))
    on_gold, at_most = (torch.cat(some).mean().item() for some in (gold, largest))
    return Row(layer, reading, by, aer(links, sure, possible).aer, on_gold, at_most)
