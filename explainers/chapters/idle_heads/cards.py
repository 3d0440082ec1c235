"""The cards: one row of scores and a sink, and what five seeds of every switch came to."""

import math
from random import Random
from statistics import mean

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.bounded_scores import largest_normed_score, rms_norm, soft_cap
from explainers.attention.sinks_and_gates import softmax_with_sinks
from explainers.memory.model_shapes import read_shapes
from explainers.messages import N_
from explainers.toys.idle_head import (
    CAP,
    FIRST,
    GATE,
    IDLE_SEEDS,
    NORM,
    SINK,
    SOFT_CAP,
    load_idle_head,
    name_setting,
)
from explainers.toys.idle_training import average, list_seeds
from explainers.translations import _
from explainers.ui.figure.chart import show_chart, tabulate
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import run_and_hand_over
from explainers.ui.text.language import fragment
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


INTO_SINK, HALF, TO_FIRST = N_("into the sink"), N_("half and half"), N_("to ⟨s⟩, as before")
ANSWERS = INTO_SINK, HALF, TO_FIRST
CLEARLY = 0.75
"""A place that gets this much of the weight of both has got it."""


def answer_sink() -> str:
    """Where the weight of idle letters goes if there are a first token and a sink."""
    both = name_setting(FIRST, SINK)
    first, nowhere = average(both, "first"), average(both, "nowhere")
    share = first / (first + nowhere)
    return TO_FIRST if share > CLEARLY else INTO_SINK if share < 1 - CLEARLY else HALF


@fragment
def ask_sink(text: Prose) -> None:
    """A first token and a sink, which gets the weight? Then a dot for each training, with a gate
    beside a first token as well."""
    both, gated = name_setting(FIRST, SINK), name_setting(FIRST, GATE)
    told = {
        "first": write_percent(average(both, "first")),
        "first_each": ", ".join(write_percent(row.first) for row in list_seeds(both)),
        "nowhere": write_percent(average(both, "nowhere")),
        "gated": write_percent(average(gated, "first")),
        "gate": write_percent(average(gated, "gate_idle")),
        "loss": f"{average(both, 'loss'):.2f}",
        "loss_first": f"{average(FIRST, 'loss'):.2f}",
    }
    if not revealed(text, "sink", ANSWERS, answer_sink(), **told):
        return
    from explainers.charts.curves import Axis, draw_dot_rows

    shares = {
        _("⟨s⟩, beside a sink"): [row.first for row in list_seeds(both)],
        _("the sink, beside ⟨s⟩"): [row.nowhere for row in list_seeds(both)],
        _("⟨s⟩, beside a gate"): [row.first for row in list_seeds(gated)],
    }
    points = [(name, 100 * share) for name, found in shares.items() for share in found]
    title = _("weight of the idle letters, %")
    alt = _(
        "{title}, a dot for each of {count} seeds. Means: {means}.",
        title=title,
        count=len(IDLE_SEEDS),
        means="; ".join(f"{name}: {write_percent(mean(found))}" for name, found in shares.items()),
    )
    origin = _("trained beforehand: copied letters, {count} seeds", count=len(IDLE_SEEDS))
    rows = tabulate(points, ["name", "x"])
    show_chart(draw_dot_rows, rows, alt, "both places", origin, x=Axis(title))
    text("sink_seen", **told)


def show_growth(text: Prose) -> None:
    """How large scores became, and how large a soft cap and QK-norm let them become."""
    plain, capped, normed = FIRST, name_setting(FIRST, SOFT_CAP), name_setting(FIRST, NORM)
    heads = [load_idle_head(normed, seed) for seed in IDLE_SEEDS]
    bound = max(largest_normed_score(one["query gain"], one["key gain"]) for one in heads)
    told = {
        "plain": _write_largest(plain),
        "cap": f"{CAP:g}",
        "double": f"{2 * CAP:g}",
        "ratio": f"{find_largest_ratio(CAP):,.0f}",
        "capped": _write_largest(capped),
        "bound": f"{bound:.1f}",
        "normed": _write_largest(normed),
    }
    text("growth", **told)
    show_source(soft_cap, rms_norm)


def _write_largest(setting: str) -> str:
    return f"{max(row.largest for row in list_seeds(setting)):.1f}"


def describe_models() -> dict[str, str]:
    """The models of the table that have learned sinks, and the first, for a link."""
    names = [name for name, shape in read_shapes().items() if shape.has_learned_sinks]
    return {"noted": ", ".join(names), "example": names[0]}
