"""What trained memories find again, as `python -m workshop.toys --memories` measured it."""

import functools
import json
from dataclasses import dataclass
from statistics import mean

from explainers.folders import ASSETS
from explainers.toys.pair_memory import FADE, OVERWRITE, SOFTMAX, SUM

FILE = ASSETS / "weights" / "pair_memories.json"
MODELS = (SOFTMAX,), (SUM,), (OVERWRITE,), (FADE,), (FADE,) * 3, (FADE, FADE, SOFTMAX)
"""The rules of their layers."""
SEEDS = 0, 1, 2
TESTED_COUNTS = 4, 8, 16, 32, 64
"""Pairs of the texts that they are tested on; the last are twice the longest of the training."""
SAMPLING = 0.02
"""Two standard errors of a share that was measured on 2,048 answers."""


@dataclass(frozen=True)
class MemoryRow:
    """One model and one task: the share of right answers by seed and number of pairs."""

    rules: tuple[str, ...]
    has_repeats: bool
    shares: list[list[float]]

    def average(self, count: int) -> float:
        """The mean over the seeds, for so many pairs."""
        place = TESTED_COUNTS.index(count)
        return mean(shares[place] for shares in self.shares)

    def allows(self, count: int, share: float) -> bool:
        """May another processor come to this share?

        It adds up in another order, so that its training is like another seed's: as far outside
        of the shipped seeds as these are from each other, and two standard errors more.
        """
        shares = [of_seed[TESTED_COUNTS.index(count)] for of_seed in self.shares]
        room = max(shares) - min(shares) + SAMPLING
        return min(shares) - room <= share <= max(shares) + room


@functools.cache
def read_results() -> dict[tuple[tuple[str, ...], bool], MemoryRow]:
    """The stored rows, by the rules of the layers and whether keys are repeated."""
    stored = json.loads(FILE.read_text(encoding="utf-8"))["rows"]
    rows = [MemoryRow(tuple(one["rules"]), one["has_repeats"], one["shares"]) for one in stored]
    return {(row.rules, row.has_repeats): row for row in rows}
