"""Word alignment: links read from attention weights, made without a network, and scored.

A link is (syllable of the target, word of the source), both counted from 0. Scores compare links
with gold (Och and Ney 2003); IBM Model 1 (Brown et al. 1993) finds them by counting words.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.translation.corpus import (
    BEGIN,
    SentencePair,
    encode_sources,
    pad_rows,
    vietnamese_vocabulary,
)
from explainers.translation.model import Model

Link = tuple[int, int]
PREDICTED, INPUT = "predicted", "input"
"""The two syllables of a row of weights: its input, and the next one, which it predicts."""


class AlignmentScore(NamedTuple):
    """Links compared with gold: an error rate, 0 at best, and precision and recall, 1 at best."""

    aer: float
    precision: float
    recall: float


def score_alignment(
    links: Set[tuple[int, ...]], sure: Set[tuple[int, ...]], possible: Set[tuple[int, ...]]
) -> AlignmentScore:
    """Alignment error rate, section 5.1: sure links must be found, possible ones may be.

    Links of a whole corpus are scored together: `pool_links` tells its sentences apart. Without any
    predicted link the precision, 0/0, is given as 0.
    """
    if not sure or not sure <= possible:
        raise ValueError(f"the {len(sure)} sure links must be some, and possible ones as well")
    hits, allowed = len(links & sure), len(links & possible)
    error = 1 - (hits + allowed) / (len(links) + len(sure))
    return AlignmentScore(error, allowed / max(len(links), 1), hits / len(sure))


def pool_links(sentences: Iterable[Set[Link]]) -> set[tuple[int, ...]]:
    """The links of many sentences in one set, each with the number of its sentence."""
    return {
        (sentence_index, *link) for sentence_index, links in enumerate(sentences) for link in links
    }


def read_links(
    weights: Tensor, num_words: int, num_syllables: int, row_side: str = PREDICTED
) -> set[Link]:
    """Each syllable's link: the word with the largest weight in its row; `<eos>` is no word.

    `weights` (syllables + 1, words + 1 or more): row 0 was computed from `<bos>`, and the last
    one predicts `<eos>`. So the row that predicts syllable t stands one above the row that reads
    it, and `row_side` says which of the two is the syllable's own.
    """
    if (
        min(num_words, num_syllables) < 1
        or weights.shape[0] <= num_syllables
        or weights.shape[1] <= num_words
    ):
        sizes = f"{num_syllables} syllables from {num_words} words"
        raise ValueError(f"weights {tuple(weights.shape)} are no rows and columns of {sizes}")
    first_row = {PREDICTED: 0, INPUT: 1}[row_side]
    rows = weights[first_row : first_row + num_syllables, :num_words]
    return set(enumerate(rows.argmax(dim=-1).tolist()))


def align_diagonally(num_words: int, num_syllables: int) -> set[Link]:
    """Links along the diagonal: both sentences from left to right, a baseline without learning."""
    return {
        (syllable_index, syllable_index * num_words // num_syllables)
        for syllable_index in range(num_syllables)
    }


TextPair = tuple[Sequence[str], Sequence[str]]
EMPTY_WORD = ""
"""An empty word at the head of every source, for syllables that translate none."""


@dataclass(frozen=True)
class Ibm1Model:
    """The probability of each syllable given each word that it met in a sentence pair."""

    probability: dict[tuple[str, str], float]

    @classmethod
    def learn(cls, pairs: Sequence[TextPair], rounds: int = 6) -> "Ibm1Model":
        """Estimate the probabilities from text pairs, in so many rounds from equal ones."""
        # Each syllable of each sentence, with the words that it may come from.
        slots_of_all = ((source, syllable) for source, target in pairs for syllable in target)
        cooccurrences = [
            (slot_index, (word, syllable))
            for slot_index, (source, syllable) in enumerate(slots_of_all)
            for word in (EMPTY_WORD, *source)
        ]
        if not cooccurrences:
            raise ValueError("there is no pair of sentences to learn from")
        names = sorted({name for _, name in cooccurrences})
        words = sorted({word for word, _ in names})
        entry_index, source_index = (
            {name: index for index, name in enumerate(values)} for values in (names, words)
        )
        slots = torch.tensor([slot_index for slot_index, _ in cooccurrences])
        entries = torch.tensor([entry_index[name] for _, name in cooccurrences])
        entry_words = torch.tensor([source_index[word] for word, _ in names])
        probabilities = torch.ones(len(names), dtype=torch.double)
        for _ in range(rounds):
            probabilities = reestimate(probabilities, slots, entries, entry_words)
        return cls(dict(zip(names, probabilities.tolist(), strict=True)))

    def align(self, source: Sequence[str], target: Sequence[str]) -> set[Link]:
        """Links to each syllable's likeliest word, unless it is the empty word or all are 0."""
        # Among equal probabilities the first wins, and a word wins over the empty word.
        words = [*enumerate(source), (-1, EMPTY_WORD)]
        links = set()
        for syllable_index, syllable in enumerate(target):
            probabilities = [self.probability.get((word, syllable), 0.0) for _, word in words]
            largest = max(probabilities, default=0.0)
            word = words[probabilities.index(largest)][0] if largest else -1
            if word >= 0:
                links.add((syllable_index, word))
        return links


def reestimate(
    probabilities: Tensor, slots: Tensor, entries: Tensor, entry_words: Tensor
) -> Tensor:
    """One round of expectation maximisation over all entries (word, syllable).

    Each slot, a syllable of one sentence, is shared out among its words by their probabilities;
    the shares of a word, divided by their sum, are its new probabilities.
    """
    candidates = probabilities[entries]
    slot_totals = torch.zeros(int(slots.max()) + 1, dtype=probabilities.dtype).index_add(
        0, slots, candidates
    )
    counts = torch.zeros_like(probabilities).index_add(0, entries, candidates / slot_totals[slots])
    word_totals = torch.zeros(int(entry_words.max()) + 1, dtype=probabilities.dtype).index_add(
        0, entry_words, counts
    )
    return counts / word_totals[entry_words]


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
