"""Evaluates translators: exact matches and alignment."""

import json
import statistics
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.attention.decoder_block import Attend
from explainers.translation.alignment import (
    INPUT,
    PREDICTED,
    compute_cross_weights,
    cut_batches,
    pool_links,
    read_links,
    score_alignment,
)
from explainers.translation.corpus import SentencePair, encode_sources, vietnamese_vocabulary
from explainers.translation.model import NUM_HEADS, NUM_LAYERS, PLAIN_ATTENTION, Model
from explainers.translation.translator import SEEDS, Translator, greedy_search, load_translator
from workshop.translation.sentences import TEST_SENTENCES, TestSets, draw_test_sets

MEAN_OF_HEADS = "mean of heads"
READINGS = (MEAN_OF_HEADS, *(f"head {head}" for head in range(NUM_HEADS)))


class AlignmentRow(NamedTuple):
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


class SeedResult(NamedTuple):
    """The results of one seed: shares of sentences without a fault, and how each layer aligns.

    `aer` is that of the last layer, mean of heads, rows by the syllable that they predict.
    `aer_if_weak_may_be` counts the links of "đã" in a past tense as possible, not as sure.
    """

    exact_match_unseen: float
    exact_match_held_out_pairs: float
    aer: float
    aer_if_weak_may_be: float
    rows: tuple[AlignmentRow, ...]


def evaluate_seed(translator: Translator, tests: TestSets) -> SeedResult:
    """The results of one seed; its alignment is scored over both test sets together."""
    pairs = [*tests.unseen, *tests.held_out_pairs]
    weights_and_pairs = list(
        zip(compute_cross_weights(translator.model, pairs), pairs, strict=True)
    )
    rows = [
        _score_reading(weights_and_pairs, layer, reading, by)
        for layer in range(NUM_LAYERS)
        for reading in READINGS
        for by in (PREDICTED, INPUT)
    ]
    [last_row] = (row for row in rows if row[:3] == (NUM_LAYERS - 1, MEAN_OF_HEADS, PREDICTED))
    links = pool_links(
        _select_links(weights, pair, *last_row[:3]) for weights, pair in weights_and_pairs
    )
    strong_links = pool_links(pair.sure - pair.weak for pair in pairs)
    possible = pool_links(pair.possible for pair in pairs)
    return SeedResult(
        measure_exact_match(translator.model, tests.unseen),
        measure_exact_match(translator.model, tests.held_out_pairs),
        last_row.aer,
        score_alignment(links, strong_links, possible).aer,
        tuple(rows),
    )


def measure_exact_match(
    model: Model, pairs: Sequence[SentencePair], attend: Sequence[Attend] = PLAIN_ATTENTION
) -> float:
    """The share of sentences whose greedy translation equals the corpus' own."""
    num_exact = 0
    for batch in cut_batches(pairs):
        source = model.encode(encode_sources(pair.source for pair in batch))
        translations = greedy_search(model, source, attend)
        texts = [vietnamese_vocabulary().decode(row) for row in translations.tolist()]
        num_exact += sum(text == pair.target for text, pair in zip(texts, batch, strict=True))
    return num_exact / len(pairs)


def _select_weights(weights: Tensor, layer: int, reading: str) -> Tensor:
    """The weights (syllables + 1, words + 1) of one layer: of one head, or their mean."""
    heads = weights[layer]
    return heads.mean(dim=0) if reading == MEAN_OF_HEADS else heads[READINGS.index(reading) - 1]


def _select_links(
    weights: Tensor, pair: SentencePair, layer: int, reading: str, by: str
) -> set[tuple[int, int]]:
    matrix = _select_weights(weights, layer, reading)
    return read_links(matrix, len(pair.source), len(pair.target), by)


def _score_reading(
    weights_and_pairs: Sequence[tuple[Tensor, SentencePair]], layer: int, reading: str, by: str
) -> AlignmentRow:
    links = pool_links(
        _select_links(weights, pair, layer, reading, by) for weights, pair in weights_and_pairs
    )
    sure, possible = (
        pool_links(getattr(pair, kind) for _, pair in weights_and_pairs)
        for kind in ("sure", "possible")
    )
    first_row = 0 if by == PREDICTED else 1
    gold_weights, largest_weights = [], []
    for weights, pair in weights_and_pairs:
        rows = _select_weights(weights, layer, reading)[first_row : first_row + len(pair.target)]
        gold_words = torch.tensor([word for _, word in sorted(pair.sure)])
        gold_weights.append(rows[torch.arange(len(rows)), gold_words])
        largest_weights.append(rows.amax(dim=-1))
    mean_gold, mean_largest = (
        torch.cat(values).mean().item() for values in (gold_weights, largest_weights)
    )
    return AlignmentRow(
        layer, reading, by, score_alignment(links, sure, possible).aer, mean_gold, mean_largest
    )


class Evaluation(NamedTuple):
    """The results of all seeds."""

    seeds: Mapping[int, SeedResult]

    def average(self, field: str) -> float:
        """The mean of a field of the results over all seeds."""
        return statistics.mean(getattr(result, field) for result in self.seeds.values())

    def format_json(self) -> str:
        """The means as one line of JSON."""
        means = {name: self.average(name) for name in SeedResult._fields[:3]}
        rounded_means = {name: round(mean, 4) for name, mean in means.items()}
        return json.dumps({**rounded_means, "seeds": len(self.seeds)})


def evaluate_translators(num_tests: int = TEST_SENTENCES) -> Evaluation:
    """Evaluate the shipped weights of all seeds, on `num_tests` sentences of each test set."""
    test_sets = draw_test_sets(num_tests)
    return Evaluation({seed: evaluate_seed(load_translator(seed), test_sets) for seed in SEEDS})
