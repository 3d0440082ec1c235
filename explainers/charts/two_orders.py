"""The same words in two orders, and what they put out: each word joined to itself by a line."""

import altair as alt
import pandas as pd

from explainers.charts.chart_theme import apply_theme
from explainers.charts.theme import Theme

Rows = list[list[float]]
ROW = 46
"""Pixels of a word."""
LEFT, RIGHT, END = 3.0, 11.0, 18.0
"""Where the first cell of each stack begins, and where the picture ends; a cell is 1 wide."""


def make_order_rows(
    words: tuple[str, ...], order: list[int], before: Rows, after: Rows
) -> pd.DataFrame:
    """A row per number; `before` has the words' own order, `after` the other one."""
    rows = []
    for side, (outputs, places) in enumerate(((before, range(len(words))), (after, order))):
        first = (LEFT, RIGHT)[side]
        for place, (word, values) in enumerate(zip(places, outputs, strict=True)):
            for n, value in enumerate(values):
                name = words[word] if n == 0 else ""
                to = order.index(word) if side == 0 and n == 0 else place
                rows.append((first + n, first + n + 1, place, value, name, side, to))
    table = pd.DataFrame(rows, columns=["x", "x2", "place", "value", "word", "side", "to"])
    return table.assign(top=table["place"] + 0.12, bottom=table["place"] + 0.88)


def draw_two_orders(rows: pd.DataFrame, theme: Theme, words: int) -> alt.TopLevelMixin:
    """Two stacks of strips of `make_order_rows`; what belongs together is joined by a line."""
    base = alt.Chart(rows)
    x = alt.X("x:Q").scale(domain=[0, END], nice=False).axis(None)
    y_scale = alt.Scale(domain=[words, 0], nice=False)
    above, below = theme.value, theme.below
    cells = base.mark_rect(stroke=theme.background, strokeWidth=1, fillOpacity=0.6).encode(
        x,
        alt.Y("top:Q").scale(y_scale).axis(None),
        alt.X2("x2"),
        alt.Y2("bottom"),
        alt.Color("value:Q")
        .scale(domainMid=0, range=[below, theme.background, above], interpolate="rgb")
        .legend(None),
    )
    middle = base.transform_calculate(
        mid="datum.place + 0.5", centre="datum.x + 0.5", end="datum.to + 0.5"
    )
    y = alt.Y("mid:Q").scale(y_scale).axis(None)
    digits = middle.mark_text(fontSize=14, color=theme.text).encode(
        alt.X("centre:Q").scale(domain=[0, END], nice=False).axis(None),
        y,
        alt.Text("value:Q", format=".2f"),
    )
    lines = (
        middle.transform_filter("datum.side == 0 && datum.word != ''")
        .transform_calculate(from_x=f"{LEFT + 4.15}", to_x=f"{RIGHT - 0.15}")
        .mark_rule(strokeWidth=2.5, color=theme.muted)
        .encode(
            alt.X("from_x:Q").scale(domain=[0, END], nice=False).axis(None),
            y,
            alt.X2("to_x:Q"),
            alt.Y2("end:Q"),
        )
    )
    named = middle.transform_filter("datum.word != ''")
    left = named.transform_filter("datum.side == 0").transform_calculate(name_x=f"{LEFT - 0.3}")
    right = named.transform_filter("datum.side == 1").transform_calculate(name_x=f"{RIGHT + 4.3}")
    names = [
        one.encode(
            alt.X("name_x:Q").scale(domain=[0, END], nice=False).axis(None), y, alt.Text("word:N")
        )
        for one in (
            left.mark_text(fontSize=20, fontWeight=600, color=theme.text, align="right"),
            right.mark_text(fontSize=20, fontWeight=600, color=theme.text, align="left"),
        )
    ]
    shown = cells + digits + lines + names[0] + names[1]
    return apply_theme(shown.properties(width="container", height=ROW * words), theme)
