"""How good a translator is, beside aligners that are no network."""

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.attention.cross import Attend
from explainers.translation import ibm1
from explainers.translation.alignment import (
    INPUT,
    PREDICTED,
    Link,
    aer,
    diagonal,
    pooled,
    read_links,
)
from explainers.translation.corpus import TESTS, ForTesting, Pair, for_testing, training_set
from explainers.translation.model import LAYERS, NUM_HEADS, PLAIN, Model
from explainers.translation.search import greedy
from explainers.translation.translator import Translator
from explainers.translation.vocabulary import BEGIN, padded, sources, vietnamese
from explainers.translation.weights_file import SEEDS, load

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


IBM1_SENTENCES = 20_000
"""How many sentences of the training set IBM Model 1 learns from; more no longer help it."""


class Baselines(NamedTuple):
    """Alignment error rates of those that are no network, on the same sentences."""

    ibm1: float
    ibm1_null: float
    diagonal: float


class Evaluation(NamedTuple):
    """Each seed, and the baselines."""

    seeds: Mapping[int, Measured]
    baselines: Baselines

    def mean(self, what: str) -> float:
        """Over all seeds."""
        return statistics.mean(getattr(one, what) for one in self.seeds.values())

    def line(self) -> str:
        """One line of JSON. Of the two IBM models it names the better one."""
        numbers = {name: self.mean(name) for name in Measured._fields[:3]}
        numbers["aer_ibm1"] = min(self.baselines.ibm1, self.baselines.ibm1_null)
        numbers["aer_diagonal"] = self.baselines.diagonal
        rounded = {name: round(number, 4) for name, number in numbers.items()}
        return json.dumps({**rounded, "seeds": len(self.seeds)})


def evaluate(tests: int = TESTS, learned_from: int = IBM1_SENTENCES) -> Evaluation:
    """Compute everything from the shipped weights, on so many sentences of each kind."""
    some = for_testing(tests)
    seeds = {seed: measured(load(seed), some) for seed in SEEDS}
    return Evaluation(seeds, baselines([*some.unseen, *some.held_out_pairs], learned_from))


def baselines(pairs: list[Pair], learned_from: int) -> Baselines:
    """Error rates on these pairs, learned from others."""
    known = [(pair.source, pair.target) for pair in training_set(learned_from)]
    counted, with_null = (
        _error([model.align(one.source, one.target) for one in pairs], pairs)
        for model in (ibm1.Model.learn(known, null=null) for null in (False, True))
    )
    straight = [diagonal(len(one.source), len(one.target)) for one in pairs]
    return Baselines(counted, with_null, _error(straight, pairs))


def _error(links: list[set[Link]], pairs: list[Pair]) -> float:
    sure, possible = (pooled(getattr(p, kind) for p in pairs) for kind in ("sure", "possible"))
    return aer(pooled(links), sure, possible).aer
