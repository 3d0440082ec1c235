"""How far apart weights may be that are trained twice, and where that comes from.

Other processors add up in another order. The roundings grow with every batch, so weights that are
trained again elsewhere differ a little. How much was measured with the instruction sets that torch
knows on one processor, and beside it the smallest real change: a batch less. What is allowed lies
between the two, as many times above the one as below the other. Differences are means over all
numbers: the largest one is a step of 16 bits in either case.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import torch
from torch import Tensor

from explainers import kept
from explainers.toys.grammar import GRAMMARS
from explainers.toys.idle_head import IDLE_HEADS
from explainers.toys.layers import name_weights

CHECKED = (*(name_weights("relations", one) for one in GRAMMARS), IDLE_HEADS)
"""The names of weights of which `--check` trains a part again."""
INSTRUCTION_SETS = "default", "avx2"
"""As torch names them in ATEN_CPU_CAPABILITY; the first is what every processor can do."""
Tensors = Mapping[str, Tensor]


@dataclass(frozen=True)
class Tolerance:
    """How far weights move by themselves, and by a change: the mean of all their differences."""

    by_processor: float
    """From the file to what other instruction sets train, the larger one."""
    by_a_batch: float
    """With the last batch left out."""

    @property
    def allowed(self) -> float:
        """The geometric mean: equally far from both."""
        return math.sqrt(self.by_processor * self.by_a_batch)


def find_mean_difference(some: Tensors, others: Tensors) -> float:
    """The mean difference of all numbers in tensors of the same names."""
    if some.keys() != others.keys():
        return math.inf
    apart = [(some[name].float() - others[name].float()).abs().flatten() for name in some]
    return torch.cat(apart).mean().item()


def read_tolerance(name: str) -> Tolerance:
    """What was measured for weights, and is kept with them."""
    return Tolerance(**kept.read(name).tolerance)


def find_tolerance(name: str) -> dict[str, float]:
    """What is kept with weights; nothing with new ones, before `--tolerance` has measured it."""
    with suppress(FileNotFoundError):
        return kept.read(name).tolerance
    return {}


BEYOND = "beyond other seeds"


def allows(name: str, of_seeds: Sequence[float], number: float) -> bool:
    """May another processor come to this number, where these are kept of some seeds?

    It adds up in another order, so that its training is like another seed's: as far outside of the
    kept ones as these are from each other, and a little more.
    """
    room = max(of_seeds) - min(of_seeds) + kept.read(name).tolerance[BEYOND]
    return min(of_seeds) - room <= number <= max(of_seeds) + room


SECTION = """
# How equal is equal

`--check` trains a part of a file again. Another processor adds up in another order, so the numbers
differ a little. How far from the file they are on average was measured on one processor with
torch's instruction sets {sets}, and with the last batch left out, which is the smallest change of a
training. What is allowed is the geometric mean of both.
Made by `python -m workshop.toys --tolerance`.

| file | other instruction sets | a batch less | allowed |
|---|---|---|---|
"""


def format_tolerances() -> str:
    """The section of the report, as Markdown."""
    text = SECTION.format(sets=", ".join(INSTRUCTION_SETS))
    for name in filter(find_tolerance, CHECKED):
        one = read_tolerance(name)
        numbers = " | ".join(f"{n:.1e}" for n in (one.by_processor, one.by_a_batch, one.allowed))
        text += f"| {name.rpartition('/')[2]}.safetensors | {numbers} |\n"
    return text
