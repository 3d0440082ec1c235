"""What each layer of a model holds, as one bar per layer."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from explainers.charts.bars import storable
from explainers.charts.theme import LAYER_AXIS, Theme
from explainers.charts.themed import dressed
from explainers.translations import _

STRIP = -0.03, -0.12
"""Where the strip below the bars begins and ends, in parts of the tallest bar."""


def layer_rows(layers: Sequence[tuple[str, int, int]]) -> pd.DataFrame:
    """(kind, tokens, bytes) of each layer, in the order in which they are drawn."""
    rows = pd.DataFrame(layers, columns=["kind", "tokens", "bytes"]).rename_axis("layer")
    rows = rows.assign(bytes=storable([size for _, _, size in layers]))
    rows = rows.reset_index().assign(mib=rows["bytes"] / 2**20)
    top, bottom = (part * rows["mib"].max() for part in STRIP)
    return rows.assign(top=top, bottom=bottom)


def layer_bars(rows: pd.DataFrame, theme: Theme) -> alt.TopLevelMixin:
    """The rows of `layer_rows`: a bar each, and a strip that shows also those too small for one."""
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
    return dressed((bars + strip).properties(width="container", height=300), theme)
