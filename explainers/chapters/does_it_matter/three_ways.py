"""One head replaced by zero, by its mean and by another text: which of them misleads?"""

from random import Random
from typing import NamedTuple

from torch import Tensor

from explainers.chapters.common.measured_heads import name_head
from explainers.chapters.does_it_matter.hero import Shown
from explainers.messages import N_
from explainers.models.head_ablation import (
    CLEAR,
    KINDS,
    MEAN,
    RESAMPLE,
    ZERO,
    Estimate,
    find_costly,
    summarise,
)
from explainers.models.shipped_ablations import SAMPLE, Place
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.text.numbers import PERCENT

SAME, HALF, NOTHING = N_("about the same"), N_("about half"), N_("almost nothing")
SHARES = SAME, HALF, NOTHING
MISLED = SAMPLE[0]
"""The head of the question: zero says that it matters."""
CHANCE = N_("whether any other words would do the same")
SPEED, WHICH = N_("how fast the model is"), N_("which layer the head is in")


class Ways(NamedTuple):
    """A head's estimates, by the three replacements; rises (kinds, texts)."""

    place: Place
    found: dict[str, Estimate]
    rises: Tensor


def read_ways(shown: Shown, place: Place) -> Ways:
    """As it was measured beforehand."""
    return make_ways(place, shown.ablations.rises[(slice(None), *place)])


def make_ways(place: Place, rises: Tensor) -> Ways:
    """From rises (kinds, texts)."""
    found = {kind: summarise(row) for kind, row in zip(KINDS, rises, strict=True)}
    return Ways(place, found, rises)


def answer_mean(ways: Ways) -> str:
    """How much of the rise with zeros is left with the mean."""
    share = ways.found[MEAN].mean / ways.found[ZERO].mean
    return SAME if share > 0.75 else HALF if share > 0.25 else NOTHING


def describe_ways(ways: Ways) -> dict[str, str]:
    """The head, its rises with their errors, and a row of a table; for the text."""
    told = {kind.replace(" ", "_"): write_estimate(one) for kind, one in ways.found.items()}
    cells = [f"{_(kind)} | {write_grey(one)}" for kind, one in ways.found.items()]
    return {"head": name_head(*ways.place), "rows": "\n".join(f"| {c} |" for c in cells), **told}


def write_estimate(one: Estimate) -> str:
    """Mean ± standard error."""
    return f"{one.mean:+.3f} ± {one.error:.3f}".replace("-", "−")


def write_grey(one: Estimate) -> str:
    """Grey where the mean is less than two standard errors from 0."""
    return f"**{write_estimate(one)}**" if one.is_clear else f":gray[{write_estimate(one)}]"


def draw_ways(ways: Ways, origin: str, key: str) -> None:
    """A dot for each text, and the mean with its error, for each replacement."""
    import pandas as pd  # the first paint needs no tables

    from explainers.charts.curves import Axis, draw_text_rises

    rows: list[tuple[str, float, float | None, float | None]] = []
    for (kind, one), row in zip(ways.found.items(), ways.rises.tolist(), strict=True):
        rows += [(kind, rise, None, None) for rise in row]
        away = CLEAR * one.error
        rows.append((kind, one.mean, one.mean - away, one.mean + away))
    table = pd.DataFrame(rows, columns=["kind", "x", "low", "high"])
    title = N_("loss rises by, nats per token")
    told = "; ".join(f"{_(kind)} {write_estimate(one)}" for kind, one in ways.found.items())
    alt = _("What replacing {head} costs: {told}", head=name_head(*ways.place), told=told)
    show_chart(draw_text_rises, table, alt, key, origin, x=Axis(title))


def count_heads(shown: Shown) -> dict[str, str]:
    """How many heads matter by each replacement, and by zeros alone; for the text."""
    rises = shown.ablations.rises
    clear = find_costly(rises)  # (kinds, layers, heads)
    only_zero = clear[KINDS.index(ZERO)] & ~clear[KINDS.index(MEAN)] & ~clear[KINDS.index(RESAMPLE)]
    told = {kind: f"{int(one.sum())}" for kind, one in zip(KINDS, clear, strict=True)}
    return told | {
        "all": f"{only_zero.numel()}",
        "only": f"{int(only_zero.sum())}",
        "every": f"{int(clear.all(dim=0).sum())}",
    }


def recall_null(_draw: Random) -> Recall:
    """What random words are for."""
    return Recall(CHANCE, {}, [SPEED, CHANCE, WHICH])


def recall_effect(draw: Random) -> Recall:
    """How far a lead has moved, in percent of the way."""
    lead, other = draw.randint(5, 9), -draw.randint(5, 9)
    share = draw.choice([0.25, 0.5, 0.75])
    moved = lead + share * (other - lead)
    given = {"lead": f"{lead}", "other": f"−{-other}", "moved": f"{moved:g}".replace("-", "−")}
    return Recall(round(100 * share), given, unit=PERCENT)


def compare_replacements(rises: Tensor) -> dict[str, Tensor]:
    """Mean and standard error over texts; rises (replacements, texts), in nats per token."""
    error = rises.std(dim=-1) / rises.shape[-1] ** 0.5
    return {"loss rises by": rises.mean(dim=-1), "standard error": error}
