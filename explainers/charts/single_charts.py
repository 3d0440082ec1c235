"""Two charts of one page each: the same words in two orders, and dials in rows."""

import math
from collections.abc import Iterable

import altair as alt
import pandas as pd

from explainers.charts.theme import Theme, apply_theme
from explainers.translations import _

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


LARGEST_RADIUS, ROW_HEIGHT, LEGEND_HEIGHT = 36, 118, 60
"""In pixels; in a narrow window dials are smaller."""
THIN, THICK = 0.05, 0.12
"""Half of a hand's width at its end, in radians."""
SHADED, BEFORE, NOW = range(3)


def make_dial_rows(
    dials: Iterable[tuple[str, dict[str, float]]], columns: int, series: tuple[str, ...]
) -> pd.DataFrame:
    """A row for each part of each dial: its name below, and turns in radians by `series`.

    The first of the series is a shaded arc, the second the hand of before, others a hand of now.
    """
    rows = []
    for place, (name, turns) in enumerate(dials):
        for one, turn in turns.items():
            kind = min(series.index(one), NOW)
            half = (0.0, THIN, THICK)[kind]
            start = turn - half if half else 0.0
            end = turn + half if half else min(turn, math.tau)
            rows.append((place % columns, place // columns, one, kind, start, end, turn, name))
    names = ["x", "y", "series", "kind", "start", "end", "turn", "below"]
    return pd.DataFrame(rows, columns=names)


def draw_dials_in_rows(
    rows: pd.DataFrame, theme: Theme, columns: int, lines: int, series: tuple[str, ...]
) -> alt.TopLevelMixin:
    """The rows of `make_dial_rows`; angles run clockwise from the top."""
    radius = f"min({LARGEST_RADIUS}, width / {2.2 * columns:.1f})"
    x = alt.X("x:Q").scale(domain=[-0.5, columns - 0.5], nice=False).axis(None)
    y = alt.Y("y:Q").scale(domain=[lines - 0.35, -0.5], nice=False).axis(None)
    colours = [theme.band, theme.muted, theme.text, theme.highlight]
    colour = alt.Color("series:N").scale(domain=[_(name) for name in series], range=colours)
    colour = colour.legend(orient="top", title=None, columns=2, labelLimit=300)
    base = alt.Chart(rows)
    tips = [
        alt.Tooltip("series:N", title=_("series")),
        alt.Tooltip("turn:Q", format=",.3f", title=_("radians")),
    ]

    def draw(kind: int, size: float) -> alt.Chart:
        mark = base.transform_filter(f"datum.kind == {kind}")
        mark = mark.mark_arc(radius=alt.ExprRef(f"{size} * {radius}"))
        theta = alt.Theta("start:Q").scale(None).stack(None)
        return mark.encode(x, y, theta, alt.Theta2("end:Q"), colour, tooltip=tips)

    once = base.transform_filter(f"datum.kind == {SHADED}")
    circle = once.transform_calculate(none="0", all="2 * PI").mark_arc(
        radius=alt.ExprRef(radius), fill=theme.background, stroke=theme.muted
    )
    whole = alt.Theta("none:Q").scale(None).stack(None)
    circle = circle.encode(x, y, whole, alt.Theta2("all:Q"))
    names = once.mark_text(fontSize=13, color=theme.text, dy=alt.ExprRef(f"{radius} + 14"))
    names = names.encode(x, y, alt.Text("below:N"))
    parts = circle, draw(SHADED, 1), draw(BEFORE, 0.75), draw(NOW, 1), names
    high = ROW_HEIGHT * lines + LEGEND_HEIGHT
    figure = alt.layer(*parts).properties(width="container", height=high)
    return apply_theme(figure, theme)
