"""Predict: what an indexer scores, and which row a full cache throws away."""

from random import Random

import torch

from explainers.attention.eviction import evict_least_read
from explainers.attention.indexer import index_scores
from explainers.chapters.exercises.exercise_table import Prediction, format_signed

HUNDREDTH = 0.02
HEADS, ROWS, NEWEST = 4, 6, 2


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


def row_that_is_evicted(draw: Random) -> Prediction:
    """A full cache: the row goes that received least, unless it is one of the newest."""
    while True:
        # Whole tenths, so that the totals can be printed: row t has t + 1 weights that sum to 1.
        weights = torch.zeros(ROWS + 1, ROWS + 1, dtype=torch.double)
        for row in range(ROWS + 1):
            cuts = sorted(draw.randint(0, 10) for _cut in range(row))
            parts = [high - low for low, high in zip([0, *cuts], [*cuts, 10], strict=True)]
            weights[row, : row + 1] = torch.tensor(parts) / 10
        totals = weights[:ROWS, :ROWS].sum(dim=0)
        old, newest = totals[:-NEWEST].sort().values, totals[-NEWEST:]
        if old[1] - old[0] > 0.05 and newest.min() < old[0] - 0.05:
            break
    held = evict_least_read(weights.clamp(min=1e-9).log(), ROWS, NEWEST)[ROWS, :ROWS]
    place = 1 + held.tolist().index(False)
    given = {
        "rows": f"{ROWS}",
        "newest": f"{NEWEST}",
        "received": ", ".join(f"{total:.1f}" for total in totals.tolist()),
    }
    return Prediction(given, place, worked={"least": f"{totals[place - 1]:.1f}"})
