"""What five seeds of every switch came to: the prediction, dots, scores that cannot grow."""

from collections.abc import Mapping, Sequence
from statistics import mean

from explainers.attention.qk_norm import largest_normed_score
from explainers.chapters.idle_heads.one_row import find_largest_ratio
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
from explainers.toys.idle_report import average, list_seeds
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.text.numbers import write_percent

INTO_SINK, HALF, TO_FIRST = N_("into the sink"), N_("half and half"), N_("to ⟨s⟩, as before")
ANSWERS = INTO_SINK, HALF, TO_FIRST
Shares = Mapping[str, Sequence[float]]
CLEARLY = 0.75
"""A place that gets this much of the weight of both has got it."""


def answer_sink() -> str:
    """Where the weight of idle letters goes if there are a first token and a sink."""
    both = name_setting(FIRST, SINK)
    first, nowhere = average(both, "first"), average(both, "nowhere")
    share = first / (first + nowhere)
    return TO_FIRST if share > CLEARLY else INTO_SINK if share < 1 - CLEARLY else HALF


def describe_both() -> dict[str, str]:
    """The first token beside a sink, and beside a gate, for a text."""
    both, gated = name_setting(FIRST, SINK), name_setting(FIRST, GATE)
    return {
        "first": write_percent(average(both, "first")),
        "first_each": ", ".join(write_percent(row.first) for row in list_seeds(both)),
        "nowhere": write_percent(average(both, "nowhere")),
        "gated": write_percent(average(gated, "first")),
        "gate": write_percent(average(gated, "gate_idle")),
        "loss": f"{average(both, 'loss'):.2f}",
        "loss_first": f"{average(FIRST, 'loss'):.2f}",
    }


def draw_shares(shares: Shares, title: str, key: str, origin: str) -> None:
    """A dot for each training: shares of the idle letters' weight, by a name for each row."""
    import pandas as pd

    from explainers.charts.curves import Axis, draw_dot_rows

    points = [(name, 100 * share) for name, found in shares.items() for share in found]
    means = "; ".join(f"{name}: {write_percent(mean(found))}" for name, found in shares.items())
    alt = _(
        "{title}, a dot for each of {count} seeds. Means: {means}.",
        title=title,
        count=len(IDLE_SEEDS),
        means=means,
    )
    rows = pd.DataFrame(points, columns=["name", "x"])
    show_chart(draw_dot_rows, rows, alt, key, origin, x=Axis(title))


def list_shares(name: str, setting: str) -> list[float]:
    """One of the shares of each seed."""
    return [getattr(row, name) for row in list_seeds(setting)]


def draw_both(origin: str) -> None:
    """What the first token keeps beside a sink and beside a gate, and what the sink gets."""
    both, gated = name_setting(FIRST, SINK), name_setting(FIRST, GATE)
    shares = {
        _("⟨s⟩, beside a sink"): list_shares("first", both),
        _("the sink, beside ⟨s⟩"): list_shares("nowhere", both),
        _("⟨s⟩, beside a gate"): list_shares("first", gated),
    }
    draw_shares(shares, _("weight of the idle letters, %"), "both places", origin)


def describe_growth() -> dict[str, str]:
    """How large scores became, and how large they can become."""
    plain, capped, normed = FIRST, name_setting(FIRST, SOFT_CAP), name_setting(FIRST, NORM)
    heads = [load_idle_head(normed, seed) for seed in IDLE_SEEDS]
    bound = max(largest_normed_score(one["query gain"], one["key gain"]) for one in heads)
    return {
        "plain": _write_largest(plain),
        "cap": f"{CAP:g}",
        "double": f"{2 * CAP:g}",
        "ratio": f"{find_largest_ratio(CAP):,.0f}",
        "capped": _write_largest(capped),
        "bound": f"{bound:.1f}",
        "normed": _write_largest(normed),
    }


def _write_largest(setting: str) -> str:
    return f"{max(row.largest for row in list_seeds(setting)):.1f}"


def describe_models() -> dict[str, str]:
    """The models of the table that have learned sinks, and the first, for a link."""
    names = [name for name, shape in read_shapes().items() if shape.has_learned_sinks]
    return {"noted": ", ".join(names), "example": names[0]}
