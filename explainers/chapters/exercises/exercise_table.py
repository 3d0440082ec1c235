"""The exercises as data: assets/exercises.json names what makes each, and its page."""

import functools
import importlib
import json
from dataclasses import dataclass

from explainers.chapters.exercises.exercise_kinds import Generator, Task, seed_random
from explainers.folders import ASSETS

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
        return self.module

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
def exercises() -> dict[str, Exercise]:
    """id: exercise, in the order of the pages that they belong to."""
    rows = json.loads(FILE.read_text(encoding="utf-8"))
    made = [(row["make"].split("."), row["page"]) for row in rows]
    return {name: Exercise(name, module, page) for (module, name), page in made}
