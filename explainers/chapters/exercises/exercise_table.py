"""Exercises as data: assets/exercises.json names what makes each; and what can be asked."""

import functools
import importlib
import itertools
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from explainers.folders import ASSETS
from explainers.messages import N_


@dataclass(frozen=True)
class Prediction:
    """A number is asked for; `given` are the numbers of the statement, `worked` of the solution.

    What is further off than `tolerance`, in the unit of the answer, is not accepted. `unit` is what
    an answer counts, for `read_answer`.
    """

    given: dict[str, str]
    answer: float
    tolerance: float = 0.0
    worked: dict[str, str] = field(default_factory=dict)
    unit: str = ""

    def accepts(self, answer: float) -> bool:
        """Is it near enough? Not a number and infinite are never."""
        return math.isfinite(answer) and abs(answer - self.answer) <= self.tolerance + 1e-9


class GoalMeasurement(NamedTuple):
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
    measure: Callable[..., GoalMeasurement]

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


def choose_fair_goal(goals: Iterator[Goal]) -> Goal:
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


def format_signed(number: float) -> str:
    """The number as text, with a minus sign as it is printed, not as it is typed."""
    return f"{number:g}".replace("-", "−")


def format_bool(is_so: bool) -> str:
    """ "yes" or "no", a text to be translated where it is shown."""
    return N_("yes") if is_so else N_("no")


FILE = ASSETS / "exercises.json"
KINDS = "predict", "reach", "write"


@dataclass(frozen=True)
class Exercise:
    """One exercise; its text is kept with the texts of the page that offers it."""

    id: str
    module: str
    page: str

    @property
    def kind(self) -> str:
        """Predict a number, reach a goal, or write a function."""
        return self.module.partition("_")[0]

    @property
    def make(self) -> Generator:
        """What draws its numbers and computes its answer."""
        if self.kind == "write":
            raise ValueError(f"{self.id} is written and checked on the learner's own machine")
        made_by = importlib.import_module(
            f"explainers.chapters.exercises.{self.module}"
        )  # brings torch
        generator: Generator = getattr(made_by, self.id)
        return generator

    def task(self, seed: int) -> Task:
        """The exercise with the numbers of a seed."""
        return self.make(seed_random(self.id, seed))


@functools.cache
def read_exercises() -> dict[str, Exercise]:
    """id: exercise, in the order of the pages that they belong to."""
    rows = json.loads(FILE.read_text(encoding="utf-8"))
    made = [(row["make"].split("."), row["page"]) for row in rows]
    return {name: Exercise(name, module, page) for (module, name), page in made}
