"""One row of scores and a sink, in numbers; and two questions to recall."""

import math
from random import Random
from typing import NamedTuple

import torch

from explainers.attention.sinks import softmax_with_sinks
from explainers.attention.softcap import soft_cap
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.text.numbers import PERCENT, write_decimals, write_percent

SCORES, SINK_SCORE = (1.0, 0.2, -0.5, 0.3), 2.0


class SharedRow(NamedTuple):
    """The weights of a row's words, and what fell into the sink."""

    weights: list[float]
    nowhere: float


def share_row(scores: tuple[float, ...], sink: float) -> SharedRow:
    """A row of scores through softmax, a sink beside them."""
    row = torch.tensor([[scores]], dtype=torch.double)  # (heads, q_len, kv_len)
    weights = softmax_with_sinks(row, torch.tensor([sink], dtype=torch.double))[0, 0]
    return SharedRow(weights.tolist(), 1 - weights.sum().item())


def describe_row() -> dict[str, str]:
    """The row of the text in numbers, cells of a table."""
    shared = share_row(SCORES, SINK_SCORE)
    return {
        "scores": " | ".join(write_decimals(score, 1) for score in SCORES),
        "sink": write_decimals(SINK_SCORE, 1),
        "weights": " | ".join(map(write_percent, shared.weights)),
        "nowhere": write_percent(shared.nowhere),
        "kept": write_percent(sum(shared.weights)),
    }


def find_largest_ratio(cap: float) -> float:
    """How many times larger than another a weight can be where scores are capped."""
    far = torch.tensor([math.inf, -math.inf], dtype=torch.double)
    weights = soft_cap(far, cap).softmax(dim=-1)
    return (weights[0] / weights[1]).item()


def recall_sink(draw: Random) -> Recall:
    """What a row with a learned sink adds up to."""
    first, second, third = draw.randint(20, 40), draw.randint(8, 19), draw.randint(2, 7)
    total = first + second + third
    names = ("first", "second", "third", "sum")
    given = {
        name: f"{number}\N{NO-BREAK SPACE}%"
        for name, number in zip(names, (first, second, third, total), strict=True)
    }
    given["sum"] = f"{total}"
    return Recall(100 - total, given, unit=PERCENT)


def recall_cap(draw: Random) -> Recall:
    """How unequal weights can become under a soft cap."""
    cap = draw.choice([1, 2, 3])
    given = {"cap": f"{cap}", "double": f"{2 * cap}"}
    return Recall(round(find_largest_ratio(cap)), given, tolerance=0.5)
