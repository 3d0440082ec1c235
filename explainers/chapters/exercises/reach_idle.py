"""Reach a goal: a sink that takes enough from an idle row and little from a busy one."""

from collections.abc import Iterator
from functools import partial
from random import Random

import torch

from explainers.attention.sinks import softmax_with_sinks
from explainers.chapters.exercises.exercise_table import (
    Goal,
    GoalMeasurement,
    Setting,
    choose_fair_goal,
)
from explainers.ui.text.numbers import write_percent

SINKS = tuple(n / 2 for n in range(-4, 17))
IDLE_ROW = (0.0, 0.5, -0.5, 0.0)
"""Scores of a word that needs nothing."""


def a_sink_for_two_rows(draw: Random) -> Goal:
    """A sink's score at which an idle row is nearly empty and a busy one nearly full."""
    return choose_fair_goal(_sinks_to_choose(draw))


def _sinks_to_choose(draw: Random) -> Iterator[Goal]:
    settings = (Setting("sink", "Score of the sink", SINKS, -2.0),)
    while True:
        best, least = draw.choice([6, 7, 8]), draw.choice([70, 80])
        given = {"best": f"{best}", "least": f"{least}\N{NO-BREAK SPACE}%"}
        yield Goal(given, settings, partial(_split_rows, best, least))


def _split_rows(best: int, least: int, sink: float) -> GoalMeasurement:
    rows = torch.tensor([[IDLE_ROW, (float(best), *IDLE_ROW[1:])]])  # (heads, q_len, kv_len)
    nowhere = 1 - softmax_with_sinks(rows, torch.tensor([sink])).sum(dim=-1)[0]
    idle, busy = nowhere.tolist()
    is_met = idle >= least / 100 and busy <= 1 - least / 100
    return GoalMeasurement(is_met, {"idle": write_percent(idle), "busy": write_percent(busy)})
