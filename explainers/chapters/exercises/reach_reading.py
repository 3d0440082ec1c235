"""Reach a goal: keep few keys, and lose little."""

from collections.abc import Iterator
from functools import partial
from random import Random

from explainers.chapters.exercises.exercise_table import (
    Goal,
    GoalMeasurement,
    Setting,
    choose_fair_goal,
)
from explainers.models.indexers import FIRST, INDEXER, KEPT, TWICE, WINDOW, read_files

POLICIES = {"window": WINDOW, "first tokens + window": FIRST, "indexer": INDEXER}


def few_keys_for_a_loss(draw: Random) -> Goal:
    """A policy and a number of keys, so that the loss stays below a bound."""
    return choose_fair_goal(_goals(draw))


def _goals(draw: Random) -> Iterator[Goal]:
    settings = (
        Setting("policy", "Keys kept by", tuple(POLICIES), "window"),
        Setting("kept", "Keys kept", KEPT, KEPT[0]),
    )
    while True:
        most, rise = draw.choice(KEPT[2:]), draw.choice([0.5, 1.0, 1.7, 2.4, 2.7])
        full = read_files().passages[TWICE].full_loss
        given = {"full": f"{full:.2f}", "loss": f"{full + rise:.2f}", "most": f"{most}"}
        yield Goal(given, settings, partial(_measure, rise, most))


def _measure(rise: float, most: int, policy: str, kept: int) -> GoalMeasurement:
    passage = read_files().passages[TWICE]
    loss = passage.losses[POLICIES[policy]][KEPT.index(kept)]
    is_met = loss - passage.full_loss <= rise and kept <= most
    return GoalMeasurement(is_met, {"reached": f"{loss:.2f}"})
