"""Predict: rows whose head may look at nothing, and weights under a soft cap."""

import math
from random import Random

import torch

from explainers.attention.sinks import softmax_with_sinks
from explainers.chapters.exercises.exercise_table import Prediction, format_signed
from explainers.ui.text.numbers import SHARE

HUNDREDTH = 0.02


def a_row_with_a_sink(draw: Random) -> Prediction:
    """What is left for the words, beside a learned sink."""
    scores = [draw.randint(-1, 2) for _ in range(3)]
    sink = draw.randint(0, 3)
    row = torch.tensor([[scores]], dtype=torch.double)  # (heads, q_len, kv_len)
    kept = softmax_with_sinks(row, torch.tensor([sink], dtype=torch.double)).sum().item()
    given = {"scores": ", ".join(map(format_signed, scores)), "sink": f"{sink}"}
    words = sum(map(math.exp, scores))
    worked = {"words": f"{words:.2f}", "nothing": f"{math.exp(sink):.2f}"}
    return Prediction(given, kept, HUNDREDTH, worked, SHARE)
