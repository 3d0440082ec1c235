"""Lines and dots on two axes; and charts of one page: words in two orders, and dials in rows."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import altair as alt
import pandas as pd

from explainers.charts.theme import Theme, finish
from explainers.translations import _


@dataclass(frozen=True)
class Axis:
    """What an axis measures, whether its steps are equal ratios, and where its ticks stand."""

    title: str
    is_logarithmic: bool = False
    ticks: tuple[float, ...] = ()

    @property
    def scale(self) -> alt.Scale:
        """Powers of two are the ticks of a logarithmic axis, as head sizes are powers of two."""
        return alt.Scale(type="log", base=2) if self.is_logarithmic else alt.Scale(type="linear")

    @property
    def axis(self) -> alt.Axis:
        """Vega drops labels of given ticks unless it is told how many there are.

        Of powers that would overlap it leaves out every second one, never only the last.
        """
        if not self.ticks:
            return alt.Axis(labelOverlap="parity") if self.is_logarithmic else alt.Axis()
        return alt.Axis(values=list(self.ticks), tickCount=len(self.ticks))


def draw_curve(
    rows: pd.DataFrame, theme: Theme, x: Axis, y: Axis, series: tuple[str, ...]
) -> alt.TopLevelMixin:
    """Columns x, y, series and reference (True for theory's line).

    `series` names the measured ones and then, if there is one, the theory.
    """
    base = alt.Chart(rows).encode(
        alt.X("x:Q").scale(x.scale).axis(x.axis).title(_(x.title)),
        alt.Y("y:Q").scale(y.scale).axis(y.axis).title(_(y.title)),
        alt.Color("series:N")
        .scale(domain=[_(name) for name in series], range=list(theme.series[: len(series)]))
        .legend(orient="top", title=None, columns=2, labelLimit=300),
        tooltip=[
            alt.Tooltip("series:N", title=_("series")),
            alt.Tooltip("x:Q", title=_(x.title)),
            alt.Tooltip("y:Q", format=".4f", title=_("y")),
        ],
    )
    theory = base.transform_filter("datum.reference").mark_line(strokeDash=[6, 4])
    measurements = base.transform_filter("!datum.reference").mark_line(point=True)
    return finish(measurements + theory, theme, 260)


def draw_work(
    rows: pd.DataFrame, theme: Theme, x: Axis, y: Axis, series: tuple[str, ...]
) -> alt.TopLevelMixin:
    """Columns x, y, series: two pairs of lines, in each without a cache and with it.

    The first pair is solid; what is computed again has the colour of what is wrong.
    """
    colours, dashes = [theme.highlight, theme.text] * 2, [[1, 0], [1, 0], [6, 4], [6, 4]]
    powers_of_ten = alt.Scale(type="log", base=10)
    legend = alt.Legend(
        orient="top", title=None, columns=2, labelLimit=300, symbolType="stroke", symbolSize=700
    )
    chart = (
        alt.Chart(rows)
        .mark_line(point=alt.OverlayMarkDef(size=30), strokeWidth=2.5)
        .encode(
            alt.X("x:Q").scale(x.scale).axis(x.axis).title(_(x.title)),
            alt.Y("y:Q").scale(powers_of_ten).axis(format="~s", tickCount=6).title(_(y.title)),
            alt.Color("series:N", sort=None)
            .scale(domain=list(series), range=colours)
            .legend(legend),
            alt.StrokeDash("series:N", sort=None).scale(domain=list(series), range=dashes),
            tooltip=[
                alt.Tooltip("series:N", title=_("series")),
                alt.Tooltip("x:Q", title=_(x.title)),
                alt.Tooltip("y:Q", format=",", title=_(y.title)),
            ],
        )
    )
    return finish(chart, theme, 320)


def draw_dots(rows: pd.DataFrame, theme: Theme, x: Axis, y: Axis) -> alt.TopLevelMixin:
    """Columns x (a name), y in percent: a dot per measurement, and a line through the means."""
    across = alt.X("x:N", sort=None).title(_(x.title)).axis(labelAngle=0, labelFontSize=14)
    base = alt.Chart(rows).encode(
        across,
        alt.Y("y:Q").scale(domain=[0, 100]).title(_(y.title)),
        tooltip=[alt.Tooltip("x:N", title=_(x.title)), alt.Tooltip("y:Q", format=".0f")],
    )
    dots = base.mark_circle(size=110, color=theme.weight_bar, opacity=0.7)
    means = base.mark_line(color=theme.weight_bar, strokeWidth=2).encode(y="mean(y):Q")
    return finish(means + dots, theme, 260)


def draw_dot_rows(rows: pd.DataFrame, theme: Theme, x: Axis) -> alt.TopLevelMixin:
    """Columns name, x in percent: a row of dots for each name, and a stroke at their mean."""
    down = alt.Y("name:N", sort=None).title(None).axis(labelFontSize=14, labelLimit=220)
    across, base = alt.X("x:Q").scale(domain=[0, 100]).title(_(x.title)), alt.Chart(rows)
    pointed = [alt.Tooltip("name:N", title=_("name")), alt.Tooltip("x:Q", format=".0f")]
    dots = base.mark_circle(size=110, color=theme.weight_bar, opacity=0.6)
    means = base.mark_tick(color=theme.text, thickness=2, size=20).encode(down, x="mean(x):Q")
    dots = dots.encode(down, across, tooltip=pointed)
    return finish(dots + means, theme, alt.Step(30))


def draw_text_rises(rows: pd.DataFrame, theme: Theme, x: Axis) -> alt.TopLevelMixin:
    """Columns kind, x, low, high: a dot for each text; a row that has low is a mean, its error."""
    down = alt.Y("kind:N", sort=None).title(None).axis(labelFontSize=15, labelLimit=220)
    base, title = alt.Chart(rows).encode(down), _(x.title)
    dots = base.transform_filter("datum.low === null").mark_circle(
        size=90, color=theme.weight_bar, opacity=0.45
    )
    means = base.transform_filter("datum.low !== null")
    spans = means.mark_rule(color=theme.text, strokeWidth=2.5).encode(
        alt.X("low:Q").title(title).axis(tickCount=8), alt.X2("high:Q")
    )
    strokes = means.mark_tick(color=theme.text, thickness=4, size=24).encode(x="x:Q")
    zero = alt.Chart(rows).mark_rule(color=theme.muted, strokeDash=[4, 3]).encode(x=alt.datum(0))
    pointed = [alt.Tooltip("kind:N", title=_("name")), alt.Tooltip("x:Q", format="+.3f")]
    dots = dots.encode(alt.X("x:Q").title(title).axis(tickCount=8), tooltip=pointed)
    return finish(zero + dots + spans + strokes, theme, alt.Step(44))


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

    def across(field: str) -> alt.X:
        return alt.X(field).scale(domain=[0, END], nice=False).axis(None)

    y_scale = alt.Scale(domain=[words, 0], nice=False)
    above, below = theme.value, theme.below
    cells = base.mark_rect(stroke=theme.background, strokeWidth=1, fillOpacity=0.6).encode(
        across("x:Q"),
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
        across("centre:Q"), y, alt.Text("value:Q", format=".2f")
    )
    lines = (
        middle.transform_filter("datum.side == 0 && datum.word != ''")
        .transform_calculate(from_x=f"{LEFT + 4.15}", to_x=f"{RIGHT - 0.15}")
        .mark_rule(strokeWidth=2.5, color=theme.muted)
        .encode(across("from_x:Q"), y, alt.X2("to_x:Q"), alt.Y2("end:Q"))
    )
    named = middle.transform_filter("datum.word != ''")
    left = named.transform_filter("datum.side == 0").transform_calculate(name_x=f"{LEFT - 0.3}")
    right = named.transform_filter("datum.side == 1").transform_calculate(name_x=f"{RIGHT + 4.3}")
    names = [
        one.encode(across("name_x:Q"), y, alt.Text("word:N"))
        for one in (
            left.mark_text(fontSize=20, fontWeight=600, color=theme.text, align="right"),
            right.mark_text(fontSize=20, fontWeight=600, color=theme.text, align="left"),
        )
    ]
    return finish(cells + digits + lines + names[0] + names[1], theme, ROW * words)


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
    return finish(alt.layer(*parts), theme, ROW_HEIGHT * lines + LEGEND_HEIGHT)
