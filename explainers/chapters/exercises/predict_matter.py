"""Predict: what a head adds to a logit, from its weights and from what it would write."""

from random import Random

import torch

from explainers.chapters.exercises.exercise_table import Prediction, format_signed

HUNDREDTH = 0.011
TOKENS = 3


def sum_that_a_head_writes(draw: Random) -> Prediction:
    """Weights times what each token would add with all of the weight: the direct effect."""
    cuts = sorted(draw.sample(range(1, 10), TOKENS - 1))
    parts = [high - low for low, high in zip([0, *cuts], [*cuts, 10], strict=True)]
    weights = torch.tensor(parts, dtype=torch.double) / 10
    writes = torch.tensor([draw.randint(-9, 9) for _token in parts], dtype=torch.double) / 2
    given = {
        "weights": ", ".join(f"{one:g}" for one in weights.tolist()),
        "writes": ", ".join(format_signed(one) for one in writes.tolist()),
    }
    products = ", ".join(format_signed(round(one, 2)) for one in (weights * writes).tolist())
    return Prediction(given, float(weights @ writes), HUNDREDTH, {"products": products})
