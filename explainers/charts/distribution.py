"""Distributions as bars: attention weights over tokens, and histograms of drawn numbers."""

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from explainers.charts.chart_theme import apply_theme
from explainers.charts.theme import WEIGHT_DOMAIN, Theme
from explainers.translations import _

BAR_HEIGHT = 30


def make_share_rows(series: Mapping[str, Sequence[float]], tokens: Sequence[str]) -> pd.DataFrame:
    """Rows of weights by name, for `draw_distribution`."""
    return pd.DataFrame(
        [
            (position, token, name, weight)
            for name, weights in series.items()
            for position, (token, weight) in enumerate(zip(tokens, weights, strict=True))
        ],
        columns=["position", "token", "series", "weight"],
    )


def draw_distribution(rows: pd.DataFrame, theme: Theme, length: int) -> alt.TopLevelMixin:
    """Columns position, token, series, weight: one panel per series, one bar per token.

    The weight axis is 0 to 1 in every panel, so that panels can be compared.
    """
    base = alt.Chart(rows)
    y = alt.Y("position:O").axis(None)
    x = alt.X("weight:Q").scale(domain=list(WEIGHT_DOMAIN)).title(_("weight"))
    bars = base.mark_bar(color=theme.weight_bar, height=BAR_HEIGHT * 0.7).encode(
        y,
        x,
        tooltip=[
            alt.Tooltip("token:N", title=_("token")),
            alt.Tooltip("series:N", title=_("series")),
            alt.Tooltip("weight:Q", format=".4f", title=_("weight")),
        ],
    )
    tokens = base.mark_text(align="right", dx=-6, fontSize=13, color=theme.text, limit=90)
    tokens = tokens.encode(y, alt.Text("token:N"), x=alt.datum(0))
    numbers = base.mark_text(align="left", dx=4, fontSize=12, color=theme.text)
    numbers = numbers.encode(y, x, alt.Text("weight:Q", format=".3f"))
    panel = (bars + tokens + numbers).properties(width=190, height=BAR_HEIGHT * length)
    header = alt.Header(labelColor=theme.text, labelFontSize=14, title=None, labelAnchor="start")
    figure = panel.facet(facet=alt.Facet("series:N").header(header), columns=2, spacing=100)
    return apply_theme(figure.properties(padding={"left": 100, "right": 40}), theme)


def draw_histogram(
    rows: pd.DataFrame, theme: Theme, x_title: str, series: tuple[str, str]
) -> alt.TopLevelMixin:
    """Columns start, end, share, series: the share of draws between start and end."""
    colour = alt.Color("series:N").scale(
        domain=[_(name) for name in series], range=list(theme.series[:2])
    )
    chart = (
        alt.Chart(rows)
        .mark_bar(opacity=0.75)
        .encode(
            alt.X("start:Q", bin="binned").title(_(x_title)).scale(domain=list(WEIGHT_DOMAIN)),
            alt.X2("end"),
            alt.Y("share:Q").stack(None).title(_("share of draws")),
            colour.legend(orient="top", title=None),
            tooltip=[
                "series:N",
                alt.Tooltip("start:Q", format=".2f", title=_("start")),
                alt.Tooltip("end:Q", format=".2f", title=_("end")),
                alt.Tooltip("share:Q", format=".3f", title=_("share")),
            ],
        )
        .properties(width="container", height=240)
    )
    return apply_theme(chart, theme)
