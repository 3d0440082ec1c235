"""Models that learned on 32 tokens, on longer texts: how RoPE turns in them, and what they lose.

What they lose was measured by `python -m workshop.toys --longer`.
"""

import functools
from dataclasses import dataclass
from statistics import mean

import torch
from torch import Tensor

from explainers import kept
from explainers.attention.rotary import angles
from explainers.attention.stretching import (
    find_slowed_share,
    interpolate,
    interpolate_slow_pairs,
    raise_base,
)

ROTARY, PARTIAL, NOWHERE = KINDS = "rope", "partial", "none"
PLAIN, PI, NTK, YARN = WAYS = "plain", "pi", "ntk", "yarn"
TRAINED, ROTARY_BASE, HEAD_DIM = 32, 10_000.0, 32
PAIRS = HEAD_DIM // 2
TURNED_NUMBERS = {ROTARY: HEAD_DIM, PARTIAL: HEAD_DIM // 2, NOWHERE: 0}
"""How many numbers of a head RoPE turns."""


def find_speeds(kind: str, way: str, factor: float) -> Tensor:
    """Radians per position of each pair (pairs,); 0 for pairs that are not turned at all."""
    turned = TURNED_NUMBERS[kind]
    if not turned:
        return torch.zeros(PAIRS)
    plain = angles(torch.ones(1), turned, ROTARY_BASE)[0]
    share = find_slowed_share(turned, ROTARY_BASE, TRAINED)
    speed = {
        PLAIN: plain,
        PI: interpolate(plain, factor),
        NTK: raise_base(turned, ROTARY_BASE, factor),
        YARN: interpolate_slow_pairs(plain, factor, share),
    }[way]
    return torch.cat([speed, torch.zeros(PAIRS - len(speed))])


LONGER = "weights/longer_texts"
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


@functools.cache
def read_longer_results() -> dict[Key, LengthRow]:
    """The stored rows by kind, way and batches of further training."""
    rows = [LengthRow(**row) for row in kept.read(LONGER).numbers["rows"]]
    return {(row.kind, row.way, row.further): row for row in rows}
