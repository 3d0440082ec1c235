"""Which word a syllable came from: links read from weights, scored against gold (Och & Ney 2003).

A link is (syllable of the target, word of the source), both counted from 0.
"""

from collections.abc import Iterable, Set
from typing import NamedTuple

from torch import Tensor

Link = tuple[int, int]
PREDICTED, INPUT = "predicted", "input"
"""A row is computed from the syllable before (its input) and decides which one comes next."""


class Score(NamedTuple):
    """Of links against gold: the error rate is 0 at best, the others are 1."""

    aer: float
    precision: float
    recall: float


def aer(
    predicted: Set[tuple[int, ...]], sure: Set[tuple[int, ...]], possible: Set[tuple[int, ...]]
) -> Score:
    """Alignment error rate, section 5.1: sure links must be found, possible ones may be.

    Links of a whole corpus are scored together: `pooled` tells its sentences apart. Without any
    predicted link the precision, 0/0, is given as 0.
    """
    if not sure or not sure <= possible:
        raise ValueError(f"the {len(sure)} sure links must be some, and possible ones as well")
    hits, allowed = len(predicted & sure), len(predicted & possible)
    error = 1 - (hits + allowed) / (len(predicted) + len(sure))
    return Score(error, allowed / max(len(predicted), 1), hits / len(sure))


def pooled(sentences: Iterable[Set[Link]]) -> set[tuple[int, ...]]:
    """The links of many sentences in one set, each with the number of its sentence."""
    return {(n, *link) for n, links in enumerate(sentences) for link in links}


def read_links(weights: Tensor, words: int, syllables: int, by: str = PREDICTED) -> set[Link]:
    """Each syllable's link: the word with the largest weight in its row; `<eos>` is no word.

    `weights` (syllables + 1, words + 1 or more): row 0 was computed from `<bos>`, and the last
    one predicts `<eos>`. So the row that predicts syllable t stands one above the row that reads
    it, and `by` says which of the two is the syllable's own.
    """
    if min(words, syllables) < 1 or weights.shape[0] <= syllables or weights.shape[1] <= words:
        sizes = f"{syllables} syllables from {words} words"
        raise ValueError(f"weights {tuple(weights.shape)} are no rows and columns of {sizes}")
    first = {PREDICTED: 0, INPUT: 1}[by]
    rows = weights[first : first + syllables, :words]
    return set(enumerate(rows.argmax(dim=-1).tolist()))


def diagonal(words: int, syllables: int) -> set[Link]:
    """The links of somebody who knows no language: both sentences from left to right."""
    return {(t, t * words // syllables) for t in range(syllables)}
