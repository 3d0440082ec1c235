"""Predict: what an indexer scores, and which row a full cache throws away."""

from random import Random

import torch

from explainers.attention.indexer import index_scores
from explainers.chapters.exercises.exercise_table import Prediction, format_signed

HUNDREDTH = 0.02

HEADS = 4


def score_of_an_indexer(draw: Random) -> Prediction:
    """Products below 0 count as 0, the others by their shares; four heads, so √4 = 2."""
    products = [draw.randint(-5, 9) for _head in range(HEADS)]
    products[draw.randrange(HEADS)] = -draw.randint(1, 9)
    shares = [draw.randint(1, 9) / 10 for _head in range(HEADS)]
    query = torch.tensor(products, dtype=torch.double)[:, None, None]
    key, share = torch.ones(1, 1).double(), torch.tensor([shares]).double()
    score = index_scores(query, key, share).item()
    given = {
        "products": ", ".join(format_signed(one) for one in products),
        "shares": ", ".join(f"{one:g}" for one in shares),
    }
    total = f"{2 * score:.1f}"
    return Prediction(given, score, HUNDREDTH, {"total": total})
