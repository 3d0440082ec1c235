""" "Early layers are diffuse, late layers are sharp": tested, with and without the first token."""

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from explainers.chapters.common.measured_heads import CODE_ROLE, Gallery
from explainers.charts.curves import Axis, draw_curve
from explainers.charts.theme import LAYER_AXIS
from explainers.messages import N_
from explainers.models.head_scores import compute_entropy, drop_first_key
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.page import Prose
from explainers.ui.page_parts.veil import ask_veiled
from explainers.ui.source import show_source
from explainers.ui.untrusted_text import verbatim

if TYPE_CHECKING:
    import pandas as pd

HOLDS, BY_FIRST = N_("it holds"), N_("only because of the first token")
FAILS = N_("it does not hold")
CLEAR = -0.5
"""A rank correlation below this is called a trend."""
ENTROPIES = "entropy", "entropy without the first token"
SERIES = N_("all tokens"), N_("without the first token")


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


def show_layers(text: Prose, gallery: Gallery) -> None:
    """Is the sentence true of this model, veiled; then both curves and the verdict."""
    found = measure_trend(gallery)
    text("layers", clear=CLEAR)
    numbers = {"rank": f"{found.rank:+.2f}", "rest": f"{found.rank_of_rest:+.2f}"}
    ask_veiled(text, "layers", found.verdict, (HOLDS, BY_FIRST, FAILS), **numbers)
    x, y = Axis(LAYER_AXIS), Axis(_("entropy ÷ its maximum"))
    alt = _(
        "Entropy by layer, with all tokens and without the first: correlation {rank}, {rest}.",
        rank=numbers["rank"],
        rest=numbers["rest"],
    )
    series = tuple(map(_, SERIES))
    rows = _tabulate_entropies(found, series)
    show_chart(draw_curve, rows, alt, "entropy", gallery.origin, x=x, y=y, series=series)
    heads = gallery.scores.select("natural", ENTROPIES[0])
    first = gallery.scores.select("natural", "first token").mean(dim=1)
    sharpest = int(found.whole.argmin())
    text(
        "layers_seen",
        model=verbatim(gallery.name),
        verdict=_(found.verdict),
        rank=numbers["rank"],
        rest=numbers["rest"],
        diffuse=int(found.whole.argmax()),
        diffuse_entropy=f"{found.whole.max():.2f}",
        sharpest=sharpest,
        sharpest_entropy=f"{found.whole.min():.2f}",
        first=f"{100 * first[sharpest]:.0f}",
        sharpest_rest=f"{found.rest[sharpest]:.2f}",
        within=f"{heads.std(dim=1, correction=0).mean():.2f}",
        between=f"{found.whole.std(correction=0):.2f}",
    )
    show_source(compute_entropy, drop_first_key, that=CODE_ROLE)
    show_source(compute_rank_correlation)


def _tabulate_entropies(found: Trend, series: tuple[str, ...]) -> "pd.DataFrame":
    import pandas as pd

    points = [
        (layer, value, name, False)
        for name, values in zip(series, (found.whole, found.rest), strict=True)
        for layer, value in enumerate(values.tolist())
    ]
    return pd.DataFrame(points, columns=["x", "y", "series", "reference"])
