"""Kinds of exercises: predict a number, or change settings until a measured condition holds."""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from explainers.messages import N_


@dataclass(frozen=True)
class Prediction:
    """A number is asked for; `given` are the numbers of the statement, `worked` of the solution.

    What is further off than `tolerance`, in the unit of the answer, is not accepted.
    """

    given: dict[str, str]
    answer: float
    tolerance: float = 0.0
    worked: dict[str, str] = field(default_factory=dict)

    def accepts(self, answer: float) -> bool:
        """Is it near enough? Not a number and infinite are never."""
        return math.isfinite(answer) and abs(answer - self.answer) <= self.tolerance + 1e-9


class Reached(NamedTuple):
    """Whether the settings meet the condition, and what was measured."""

    met: bool
    measured: dict[str, str]


@dataclass(frozen=True)
class Setting:
    """What a learner may turn, and where it stands at first."""

    name: str
    label: str
    values: tuple[Any, ...]
    default: Any


@dataclass(frozen=True)
class Goal:
    """A condition that the first settings do not meet, and others do."""

    given: dict[str, str]
    settings: tuple[Setting, ...]
    measure: Callable[..., Reached]

    @property
    def start(self) -> dict[str, Any]:
        """How everything stands before anybody has turned anything."""
        return {setting.name: setting.default for setting in self.settings}

    def solutions(self) -> Iterator[dict[str, Any]]:
        """All settings that meet the condition, found by trying each."""
        names = [setting.name for setting in self.settings]
        for values in itertools.product(*(setting.values for setting in self.settings)):
            turned = dict(zip(names, values, strict=True))
            if self.measure(**turned).met:
                yield turned


def fair(goals: Iterator[Goal]) -> Goal:
    """The first goal that is neither met at once nor out of reach."""
    return next(
        goal
        for goal in goals
        if not goal.measure(**goal.start).met and next(goal.solutions(), None) is not None
    )


Task = Prediction | Goal
Generator = Callable[[Random], Task]


def seed_random(exercise: str, seed: int) -> Random:
    """What chooses the numbers of an exercise: for the same seed the same ones, on any machine."""
    return Random(f"{exercise} {seed}")  # noqa: S311 - numbers of exercises are no secrets


def signed(number: float) -> str:
    """With a minus sign as it is printed, not as it is typed."""
    return f"{number:g}".replace("-", "−")


def yes(is_so: bool) -> str:
    """For readers."""
    return N_("yes") if is_so else N_("no")
