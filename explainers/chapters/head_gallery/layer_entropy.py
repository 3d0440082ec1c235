""" "Early layers are diffuse, late layers are sharp": tested, with and without the first token."""

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from explainers.chapters.common.measured_heads import Gallery
from explainers.charts.curves import Axis, draw_curve
from explainers.charts.theme import LAYER_AXIS
from explainers.messages import N_
from explainers.models.head_scores import compute_entropy, drop_first_key
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.untrusted_text import verbatim

if TYPE_CHECKING:
    import pandas as pd

HOLDS, BY_FIRST = N_("it holds"), N_("only because of the first token")
FAILS = N_("it does not hold")
VERDICTS = HOLDS, BY_FIRST, FAILS
CLEAR = -0.5
"""A rank correlation below this is called a trend."""
ENTROPIES = "entropy", "entropy without the first token"
SERIES = N_("all tokens"), N_("without the first token")
CODE = compute_entropy, drop_first_key
"""It measured each head."""


class Trend(NamedTuple):
    """Entropy per layer (layers,), each also without the first token; and their trends."""

    whole: Tensor
    rest: Tensor
    rank: float
    rank_of_rest: float

    @property
    def verdict(self) -> str:
        """Do layers get sharper, and do they still if the first token does not count?"""
        if self.rank > CLEAR:
            return FAILS
        return HOLDS if self.rank_of_rest <= CLEAR else BY_FIRST

    @property
    def correlations(self) -> dict[str, str]:
        """Both, for a text."""
        return {"rank": f"{self.rank:+.2f}", "rest": f"{self.rank_of_rest:+.2f}"}


def measure_trend(gallery: Gallery) -> Trend:
    """In prose; the mean of each layer's heads."""
    whole, rest = (gallery.scores.select("natural", what).nanmean(dim=1) for what in ENTROPIES)
    return Trend(whole, rest, compute_rank_correlation(whole), compute_rank_correlation(rest))


def compute_rank_correlation(values: Tensor) -> float:
    """How well a ranking agrees with the order: 1 grows all the way, -1 falls (Spearman 1904)."""
    if len(values) < 2:
        return 0.0
    ranks = values.argsort().argsort().double()
    return float(torch.corrcoef(torch.stack([torch.arange(len(values)).double(), ranks]))[0, 1])


def show_trend(gallery: Gallery, found: Trend) -> dict[str, object]:
    """Both curves; the verdict and its numbers, for the text."""
    x, y = Axis(LAYER_AXIS), Axis(_("entropy ÷ its maximum"))
    alt = _(
        "Entropy by layer, with all tokens and without the first: correlation {rank}, {rest}.",
        **found.correlations,
    )
    series = tuple(map(_, SERIES))
    rows = _tabulate_entropies(found, series)
    show_chart(draw_curve, rows, alt, "entropy", gallery.origin, x=x, y=y, series=series)
    heads = gallery.scores.select("natural", ENTROPIES[0])
    first = gallery.scores.select("natural", "first token").mean(dim=1)
    sharpest = int(found.whole.argmin())
    return {
        "model": verbatim(gallery.name),
        "verdict": _(found.verdict),
        **found.correlations,
        "diffuse": int(found.whole.argmax()),
        "diffuse_entropy": f"{found.whole.max():.2f}",
        "sharpest": sharpest,
        "sharpest_entropy": f"{found.whole.min():.2f}",
        "first": f"{100 * first[sharpest]:.0f}",
        "sharpest_rest": f"{found.rest[sharpest]:.2f}",
        "within": f"{heads.std(dim=1, correction=0).mean():.2f}",
        "between": f"{found.whole.std(correction=0):.2f}",
    }


def _tabulate_entropies(found: Trend, series: tuple[str, ...]) -> "pd.DataFrame":
    import pandas as pd

    points = [
        (layer, value, name, False)
        for name, values in zip(series, (found.whole, found.rest), strict=True)
        for layer, value in enumerate(values.tolist())
    ]
    return pd.DataFrame(points, columns=["x", "y", "series", "reference"])
