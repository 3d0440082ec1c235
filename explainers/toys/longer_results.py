"""What models do past their trained length, as `python -m workshop.toys --longer` measured it."""

import functools
import json
from dataclasses import dataclass
from statistics import mean
from typing import Any

from explainers.folders import ASSETS
from explainers.toys.longer_texts import TRAINED

FILE = ASSETS / "weights" / "longer_texts.json"
SEEDS = 0, 1, 2, 3, 4
LENGTHS = TRAINED, 64, 128
FURTHER = 50
"""Batches of texts of the last length, in the rows of models that were trained further."""
Key = tuple[str, str, int]
"""Kind, way, and batches of further training."""


@dataclass(frozen=True)
class LengthRow:
    """One kind of positions and one way to slow down: by seed, then by length."""

    kind: str
    way: str
    further: int
    losses: list[list[float]]
    """Mean loss in nats of tokens that can be known."""
    rights: list[list[float]]
    """The share of them that is predicted."""

    @property
    def lengths(self) -> tuple[int, ...]:
        """Of the texts; a model that was trained further is asked on the last length alone."""
        return LENGTHS[-1:] if self.further else LENGTHS

    def average(self, length: int) -> tuple[float, float]:
        """The mean over the seeds of the loss and of the share that is right."""
        place = self.lengths.index(length)
        return mean(one[place] for one in self.losses), mean(one[place] for one in self.rights)

    def allows(self, length: int, loss: float) -> bool:
        """May another processor come to this loss?

        Its roundings make a training like another seed's: as far outside of the shipped seeds as
        these are from each other, and 0.02 more.
        """
        losses = [of_seed[self.lengths.index(length)] for of_seed in self.losses]
        room = max(losses) - min(losses) + 0.02
        return min(losses) - room <= loss <= max(losses) + room


@functools.cache
def read_stored() -> dict[str, Any]:
    """The file as it is."""
    stored: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return stored


def read_longer_results() -> dict[Key, LengthRow]:
    """The stored rows by kind, way and batches of further training."""
    rows = [LengthRow(**row) for row in read_stored()["rows"]]
    return {(row.kind, row.way, row.further): row for row in rows}
