"""Predict: what a memory of fixed size answers."""

from random import Random

import torch

from explainers.attention.delta_rule import write_delta
from explainers.attention.linear import read_state
from explainers.chapters.exercises.exercise_table import Prediction, format_signed

OVERLAPS = (0.6, 0.8), (0.8, 0.6), (0.28, 0.96), (0.0, 1.0)
"""Keys of length 1, whose overlap with the key (1, 0) is their first number."""


def answer_of_an_older_key(draw: Random) -> Prediction:
    """What the first key reads after a second one, which overlaps with it, was written."""
    first, second = draw.sample([n for n in range(-5, 11) if n], 2)
    overlap, rest = draw.choice(OVERLAPS)
    keys = torch.tensor([[1.0, 0.0], [overlap, rest]], dtype=torch.double)
    state, one = torch.zeros(1, 2, dtype=torch.double), torch.tensor(1.0, dtype=torch.double)
    for key, value in zip(keys, (first, second), strict=True):
        number = torch.tensor([float(value)], dtype=torch.double)
        state = write_delta(state, key, number, one, one)
    missing = round(second - overlap * first, 4)
    given = {"first": format_signed(first), "second": format_signed(second)}
    given |= {"overlap": f"{overlap:g}", "rest": f"{rest:g}"}
    worked = {"found": format_signed(round(overlap * first, 4)), "missing": format_signed(missing)}
    return Prediction(given, read_state(state, keys[0]).item(), 0.02, worked)
