"""The exercises: assets/exercises.json names what makes each, and a deck of cards shows them."""

import functools
import importlib
import itertools
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from explainers.chapters.common.claim_parameters import Setting, capitalise
from explainers.folders import ASSETS, read_titles
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.hero import Hero, HeroChoice
from explainers.ui.untrusted_text import make_title


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


def draw_until_fair(make: Callable[[Random], Goal]) -> Callable[[Random], Goal]:
    """Goals are drawn until one is neither met at once nor out of reach."""

    @functools.wraps(make)
    def draw_goal(draw: Random) -> Goal:
        while True:
            goal = make(draw)
            if not goal.measure(**goal.start).met and any(goal.solutions()):
                return goal

    return draw_goal


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


EVERY = controls.exercise_kind.default
ASKED_FOR = {"predict": N_("a number"), "reach": N_("a goal"), "write": N_("a function")}
MINUTES = {"predict": 2, "reach": 3, "write": 10}
SENTENCES = "hero_next", "hero_done", "hero_all", "hero_caption"


@dataclass(frozen=True)
class Deck:
    """The cards that are offered, by their names, and which of them is open."""

    cards: dict[str, Exercise]
    done: list[str]
    kind: str
    chosen: str
    is_set: bool
    """Did a lecturer choose the cards?"""

    @property
    def exercise(self) -> Exercise:
        """The one whose card is open."""
        return self.cards[self.chosen]

    def has_done(self, exercise: Exercise) -> bool:
        """Here, or before: the link says so."""
        return make_title(exercise.id) in self.done

    @property
    def undone(self) -> list[str]:
        """Cards that are to be done, from the open one on; of the chosen kind first."""
        names = list(self.cards)
        here = names.index(self.chosen)
        later = [name for name in [*names[here + 1 :], *names[:here]] if name not in self.done]
        return sorted(later, key=lambda name: not self.is_lit(name))

    def is_lit(self, name: str) -> bool:
        """Is it of the chosen kind?"""
        return self.kind in (EVERY, self.cards[name].kind)


def sort_cards() -> dict[str, Exercise]:
    """All exercises by name: row by row, each in the order of the pages."""
    return {
        make_title(one.id): one
        for one in sorted(
            read_exercises().values(), key=lambda one: (KINDS.index(one.kind), one.page)
        )
    }


def read_deck() -> Deck:
    """What the link, the session and a lecturer's set make of all exercises."""
    cards = sort_cards()
    names = list(cards)
    chosen_set = controls.exercise_set(names, is_drawn=False)
    done = controls.finished_exercises(names, is_drawn=False)
    offered = {name: cards[name] for name in chosen_set or names}
    kind = controls.exercise_kind.resolve_among(controls.exercise_kind.options)
    lit = [name for name in offered if kind in (EVERY, cards[name].kind)] or list(offered)
    following = next((name for name in lit if name not in done), lit[0])
    chosen = controls.exercise.resolve_among(list(offered), following)
    return Deck(offered, done, kind, chosen, bool(chosen_set))


def make_hero(deck: Deck) -> Hero:
    """A card for each exercise, with the sign of its page; ticked where it is done."""
    numbers = {
        "cards": [
            {
                "id": name,
                "label": capitalise(name_exercise(one)),
                "kind": one.kind,
                "sign": one.page.partition("_")[2],
                "topic": _(read_titles()[one.page]),
            }
            for name, one in deck.cards.items()
        ],
        "kinds": [
            {
                "id": kind,
                "label": capitalise(kind),
                "asked": _(ASKED_FOR[kind]),
                "minutes": MINUTES[kind],
            }
            for kind in KINDS
        ],
        "every": EVERY,
        "done": [place for place, name in enumerate(deck.cards) if name in deck.done],
    }
    return Hero(
        "deck",
        _("A deck of exercises in three rows: predict a number, reach a goal, write a function."),
        numbers,
        [
            HeroChoice(controls.exercise, list(deck.cards), deck.chosen),
            HeroChoice(controls.exercise_kind, controls.exercise_kind.options, deck.kind),
        ],
        SENTENCES,
    )


def name_exercise(exercise: Exercise) -> str:
    """Functions are called by their names in every language."""
    name = make_title(exercise.id)
    return N_("{function}", function=name) if exercise.kind == "write" else name
