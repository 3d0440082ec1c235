"""One row of scores and a sink, in numbers; and two questions to recall."""

import math
from random import Random

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.sinks import softmax_with_sinks
from explainers.attention.softcap import soft_cap
from explainers.translations import _
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.takeaway_files import run_and_hand_over
from explainers.ui.text.numbers import PERCENT, write_decimals, write_percent

SCORES, SINK_SCORE = (1.0, 0.2, -0.5, 0.3), 2.0


def share_scores(scores: Tensor, sink: float) -> dict[str, Tensor]:
    """Rows of scores through a causal softmax with a sink; what is missing fell into it."""
    mask = masks.build(masks.causal, scores.shape[-2], scores.shape[-1])
    allowed = scores.masked_fill(~mask, -torch.inf)[None]  # (heads, q_len, kv_len)
    weights = softmax_with_sinks(allowed, torch.tensor([sink]))[0]
    return {"weights": weights, "nowhere": 1 - weights.sum(dim=-1, keepdim=True)}


def describe_row() -> dict[str, str]:
    """The row of the text in numbers, cells of a table: the last one, which sees all words."""
    scores = torch.zeros(len(SCORES), len(SCORES))
    scores[-1] = torch.tensor(SCORES)
    title = _("A row with a sink")
    shared = run_and_hand_over("row", title, share_scores, scores=scores, sink=SINK_SCORE)
    weights, nowhere = shared["weights"][-1].tolist(), shared["nowhere"][-1].item()
    return {
        "scores": " | ".join(write_decimals(score, 1) for score in SCORES),
        "sink": write_decimals(SINK_SCORE, 1),
        "weights": " | ".join(map(write_percent, weights)),
        "nowhere": write_percent(nowhere),
        "kept": write_percent(sum(weights)),
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
