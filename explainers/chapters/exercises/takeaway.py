"""To take away from page 15: the numbers of a statement, and its answer or what is measured."""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from explainers.chapters.common.claim_parameters import find_published_entries
from explainers.chapters.exercises.exercise_table import (
    Exercise,
    Goal,
    Measurement,
    Prediction,
    seed_random,
)
from explainers.takeaway.recipe import Recipe
from explainers.ui.takeaway_files import take


def compute_answer(make: Callable[[Random], Any], exercise: str, seed: int) -> dict[str, Any]:
    """What the statement gives, and what is asked for."""
    task = make(seed_random(exercise, seed))
    return {**task.given, "answer": task.answer}


def measure_settings(
    make: Callable[[Random], Any], exercise: str, seed: int, settings: dict[str, Any]
) -> dict[str, Any]:
    """What the statement gives, what these settings give, and whether that is enough."""
    task = make(seed_random(exercise, seed))
    reached = task.measure(**settings)
    return {**task.given, **reached.measured, "reached": reached.met}


def offer_prediction(
    exercise: Exercise, seed: int, task: Prediction, title: str, statement: str
) -> None:
    """A number that is asked for."""
    shown = {**task.given, "answer": task.answer}
    _take(title, compute_answer, exercise, {"seed": seed}, shown, statement)


def offer_goal(
    exercise: Exercise,
    seed: int,
    task: Goal,
    settings: dict[str, Any],
    found: Measurement,
    title: str,
    statement: str,
) -> None:
    """A condition, with the settings as they are."""
    shown = {**task.given, **found.measured, "reached": found.met}
    more = {"seed": seed, "settings": settings}
    _take(title, measure_settings, exercise, more, shown, statement)


def _take(
    title: str, function: Any, exercise: Exercise, more: Any, shown: dict[str, Any], statement: str
) -> None:
    inputs = {"make": exercise.make, "exercise": exercise.id, **more}
    given = partial(find_published_entries, exercise.make, ())
    take("exercise", Recipe(title, function, inputs, shown, given=given, remark=statement))
