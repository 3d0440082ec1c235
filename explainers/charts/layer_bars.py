"""How many bytes of cache each layer of a model holds, as one bar per layer."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from explainers.charts.bars import make_storable
from explainers.charts.chart_theme import apply_theme
from explainers.charts.theme import LAYER_AXIS, Theme
from explainers.translations import _

STRIP_RANGE = -0.03, -0.12
"""Top and bottom of the strip below the bars, as shares of the tallest bar."""


def make_layer_rows(layers: Sequence[tuple[str, int, int]]) -> pd.DataFrame:
    """(kind, tokens, bytes) of each layer, in the order in which they are drawn."""
    rows = pd.DataFrame(layers, columns=["kind", "tokens", "bytes"]).rename_axis("layer")
    rows = rows.assign(bytes=make_storable([size for _, _, size in layers]))
    rows = rows.reset_index().assign(mib=rows["bytes"] / 2**20)
    top, bottom = (share * rows["mib"].max() for share in STRIP_RANGE)
    return rows.assign(top=top, bottom=bottom)


def draw_layer_bars(rows: pd.DataFrame, theme: Theme) -> alt.TopLevelMixin:
    """The rows of `make_layer_rows`: a bar each, and a strip where a bar is too small to see."""
    by_layer = alt.EncodingSortField("layer", op="min")
    colour = alt.Color("kind:N", sort=by_layer).scale(range=list(theme.series))
    base = alt.Chart(rows).encode(
        alt.X("layer:O")
        .title(_(LAYER_AXIS))
        .axis(labelOverlap="greedy", labelSeparation=6, labelAngle=0),
        colour.legend(orient="top", title=None, labelLimit=300, columns=1, symbolLimit=6),
        tooltip=[
            alt.Tooltip("layer:O", title=_("layer")),
            alt.Tooltip("kind:N", title=_("kind")),
            alt.Tooltip("tokens:Q", format=",", title=_("tokens kept")),
            alt.Tooltip("bytes:Q", format=",", title=_("bytes")),
        ],
    )
    y = alt.Y("mib:Q").scale(nice=False).title(_("MiB of a layer"))
    y = y.axis(tickCount=5, labelExpr="datum.value < 0 ? '' : datum.label")
    bars = base.mark_bar().encode(y)
    strip = base.mark_bar(stroke=theme.background).encode(alt.Y("top:Q"), alt.Y2("bottom:Q"))
    return apply_theme((bars + strip).properties(width="container", height=300), theme)
