"""Amounts of the same unit under several names, as bars that start at 0."""

from collections.abc import Iterable, Sequence

import altair as alt
import pandas as pd

from explainers.charts.chart_theme import apply_theme
from explainers.charts.theme import Theme
from explainers.translations import _

BAR_HEIGHT, AXIS_HEIGHT = 34, 55
"""Pixels for one bar with its name, and for the axis: on the page a height includes both."""


def make_storable(numbers: Sequence[int]) -> list[int] | list[float]:
    """Whole numbers for a data frame: all become floats if one needs more than 64 bits."""
    return list(map(float, numbers)) if max(numbers, default=0) >= 2**63 else list(numbers)


def make_amount_rows(amounts: Iterable[tuple[str, int]]) -> pd.DataFrame:
    """Names with whole numbers, in the given order, for `draw_bars`.

    Pairs, not by name: two names may be one in a translation.
    """
    rows = [(place, name, amount) for place, (name, amount) in enumerate(amounts)]
    return pd.DataFrame(rows, columns=["place", "name", "amount"])


def draw_bars(rows: pd.DataFrame, theme: Theme, length: int, x_title: str) -> alt.TopLevelMixin:
    """Columns place, name, amount: one bar with its name above and its number behind."""
    base = alt.Chart(rows)
    y = alt.Y("place:O").axis(None).scale(paddingInner=0)
    x = alt.X("amount:Q").title(_(x_title)).axis(tickMinStep=1, tickCount=5)
    lengths = base.mark_bar(color=theme.weight_bar, height=BAR_HEIGHT * 0.4, yOffset=6).encode(
        y,
        x,
        tooltip=[
            alt.Tooltip("name:N", title=_("name")),
            alt.Tooltip("amount:Q", format=",", title=_(x_title)),
        ],
    )
    labels = base.mark_text(align="left", fontSize=13, color=theme.text, dy=-9)
    labels = labels.encode(y, alt.Text("label:N"), x=alt.datum(0))
    labels = labels.transform_calculate(label="datum.name + ': ' + format(datum.amount, ',')")
    figure = (lengths + labels).properties(
        width="container", height=BAR_HEIGHT * length + AXIS_HEIGHT
    )
    return apply_theme(figure, theme)
