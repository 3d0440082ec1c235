"""Position vectors: a row per position, a column per wave, from fast waves to slow ones."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from explainers.charts.dress import dressed
from explainers.charts.theme import Theme, symmetric


def wave_rows(vectors: Sequence[Sequence[float]]) -> pd.DataFrame:
    """Columns position, dimension and value, a line per cell."""
    return pd.DataFrame(
        [(i, j, value) for i, line in enumerate(vectors) for j, value in enumerate(line)],
        columns=["position", "dimension", "value"],
    )


def waves(rows: pd.DataFrame, theme: Theme, length: int, d_model: int) -> alt.TopLevelMixin:
    """A heat map of `length` positions; sines and cosines lie between −1 and 1."""
    low, high = symmetric(1.0)
    colour = alt.Color("value:Q").scale(
        domain=[low, 0, high], range=list(theme.signed_ramp), interpolate="rgb"
    )
    axis = alt.Axis(grid=False, tickCount=8, format="d")
    chart = (
        alt.Chart(rows)
        .transform_calculate(right="datum.dimension + 1", under="datum.position + 1")
        .mark_rect()
        .encode(
            alt.X("dimension:Q")
            .title("dimension")
            .scale(domain=[0, d_model], nice=False)
            .axis(axis),
            alt.Y("position:Q").title("position").scale(domain=[length, 0], nice=False).axis(axis),
            alt.X2("right:Q"),
            alt.Y2("under:Q"),
            colour.legend(title=None, orient="right", gradientLength=200),
            tooltip=["position:Q", "dimension:Q", alt.Tooltip("value:Q", format=".4f")],
        )
        .properties(width="container", height=300)
    )
    return dressed(chart, theme)
