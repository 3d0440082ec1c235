"""Amounts of the same thing under several names, as bars that start at 0."""

from collections.abc import Iterable, Sequence

import altair as alt
import pandas as pd

from explainers.charts.theme import Theme
from explainers.charts.themed import dressed
from explainers.translations import _

BAR, AXIS = 34, 55
"""Pixels for one bar with its name, and for the axis: on the page a height includes both."""


def storable(numbers: Sequence[int]) -> list[int] | list[float]:
    """Whole numbers as a table can hold them: all as floats if one needs more than 64 bits."""
    return list(map(float, numbers)) if max(numbers, default=0) >= 2**63 else list(numbers)


def amount_rows(amounts: Iterable[tuple[str, int]]) -> pd.DataFrame:
    """Names with whole numbers, in the order in which they are given, for `bars`.

    Pairs, not by name: two names may be one in a translation.
    """
    rows = [(place, name, amount) for place, (name, amount) in enumerate(amounts)]
    return pd.DataFrame(rows, columns=["place", "name", "amount"])


def bars(rows: pd.DataFrame, theme: Theme, length: int, x_title: str) -> alt.TopLevelMixin:
    """Columns place, name, amount: one bar with its name above and its number behind."""
    base = alt.Chart(rows)
    y = alt.Y("place:O").axis(None).scale(paddingInner=0)
    x = alt.X("amount:Q").title(_(x_title)).axis(tickMinStep=1, tickCount=5)
    lengths = base.mark_bar(color=theme.weight_bar, height=BAR * 0.4, yOffset=6).encode(
        y,
        x,
        tooltip=[
            alt.Tooltip("name:N", title=_("name")),
            alt.Tooltip("amount:Q", format=",", title=_(x_title)),
        ],
    )
    words = base.mark_text(align="left", fontSize=13, color=theme.text, dy=-9)
    words = words.encode(y, alt.Text("label:N"), x=alt.datum(0))
    words = words.transform_calculate(label="datum.name + ': ' + format(datum.amount, ',')")
    figure = (lengths + words).properties(width="container", height=BAR * length + AXIS)
    return dressed(figure, theme)
