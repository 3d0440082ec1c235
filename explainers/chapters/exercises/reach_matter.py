"""Reach a goal: find a head that zeros call costly, and that its mean calls idle."""

from collections.abc import Iterator
from functools import partial
from random import Random

from explainers.chapters.exercises.exercise_table import (
    Goal,
    GoalMeasurement,
    Setting,
    choose_fair_goal,
)
from explainers.models.replaced_heads import KINDS, MEAN, ZERO
from explainers.models.shipped_measurements import read_kept


def a_head_that_zeros_misjudge(draw: Random) -> Goal:
    """A layer and a head: dear with zeros, cheap with the mean."""
    return choose_fair_goal(_goals(draw))


def _goals(draw: Random) -> Iterator[Goal]:
    layers, heads = read_kept().ablations.rises.shape[1:3]
    while True:  # also from another head: one that is right at once is so whatever is asked
        settings = (
            Setting("layer", "Layer, from 0", tuple(range(layers)), draw.randrange(layers)),
            Setting("head", "Head, from 0", tuple(range(heads)), draw.randrange(heads)),
        )
        least, most = draw.choice([0.02, 0.03, 0.04]), draw.choice([0.005, 0.01])
        given = {"least": f"{least:g}", "most": f"{most:g}", "heads": f"{layers * heads}"}
        yield Goal(given, settings, partial(_measure, least, most))


def _measure(least: float, most: float, layer: int, head: int) -> GoalMeasurement:
    rises = read_kept().ablations.rises[:, layer, head].mean(dim=-1)
    zero, mean = (float(rises[KINDS.index(kind)]) for kind in (ZERO, MEAN))
    is_met = zero >= least and abs(mean) <= most
    shown = {"zero": f"{zero:+.3f}", "mean": f"{mean:+.3f}"}
    return GoalMeasurement(is_met, {name: one.replace("-", "−") for name, one in shown.items()})
