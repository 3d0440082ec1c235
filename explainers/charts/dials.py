"""Dials in rows: how far something turned before, and where its hand is now."""

import math
from collections.abc import Iterable

import altair as alt
import pandas as pd

from explainers.charts.chart_theme import apply_theme
from explainers.charts.theme import Theme
from explainers.translations import _

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
