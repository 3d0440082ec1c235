"""Drawn as lines: rotated pairs as arrows, words linked in two orders."""

import math
from collections.abc import Callable, Sequence

import altair as alt
import pandas as pd

from explainers.charts.chart_theme import apply_theme
from explainers.charts.matrix import Matrix
from explainers.charts.theme import Theme
from explainers.translations import _

MIN_DRAWN_WEIGHT = 0.04
"""Weights below this have no line."""
DIAL_SPACING = 2.5
"""Distance between the centres of two dials, whose longest arrow has length 1."""


def draw_dials(matrix: Matrix, theme: Theme) -> alt.LayerChart:
    """Two rows, a query and a key, as arrows: each pair of columns is one dial."""
    planes = range(matrix.shape[1] // 2)
    turn_angles = [math.tau * n / 60 for n in range(61)]
    circle_points = pd.DataFrame(
        [(DIAL_SPACING * p + math.cos(t), math.sin(t), p, t) for p in planes for t in turn_angles],
        columns=["x", "y", "plane", "turn"],
    )
    arrows = pd.DataFrame(
        [
            (
                DIAL_SPACING * p,
                0,
                DIAL_SPACING * p + x / matrix.domain[1],
                y / matrix.domain[1],
                row,
            )
            for row, line in zip(matrix.rows, matrix.values, strict=True)
            for p, x, y in zip(planes, line[::2], line[1::2], strict=True)
            if x is not None and y is not None
        ],
        columns=["x", "y", "x2", "y2", "row"],
    )
    label_points = pd.DataFrame(
        {"x": [DIAL_SPACING * p for p in planes], "name": matrix.columns[::2], "y": -1.4}
    )
    width = DIAL_SPACING * len(planes)
    x = (
        alt.X("x:Q")
        .scale(domain=[-DIAL_SPACING / 2, width - DIAL_SPACING / 2], nice=False)
        .axis(None)
    )
    y = alt.Y("y:Q").scale(domain=[-1.6, 1.2], nice=False).axis(None)
    circles = alt.Chart(circle_points).mark_line(color=theme.grid)
    colour = alt.Color("row:N").legend(orient="top", title=None, labelLimit=300)
    colour = colour.scale(domain=[_(row) for row in matrix.rows], range=[theme.query, theme.key])
    lines = alt.Chart(arrows).mark_rule(strokeWidth=3)
    heads = alt.Chart(arrows).mark_point(filled=True, opacity=1, size=60)
    labels = alt.Chart(label_points).mark_text(color=theme.muted)
    return _layer_with_title(
        matrix,
        theme,
        circles.encode(x, y, alt.Detail("plane:N"), alt.Order("turn:Q")),
        lines.encode(x, y, alt.X2("x2"), alt.Y2("y2"), colour),
        heads.encode(alt.X("x2:Q").axis(None), alt.Y("y2:Q").axis(None), colour),
        labels.encode(x, y, alt.Text("name:N")),
    ).properties(width=100 * len(planes), height=112)


def draw_ties(matrix: Matrix, theme: Theme) -> alt.LayerChart:
    """Columns left, rows right; a larger weight has a thicker line, ringed cells a dotted one."""
    rows, columns = matrix.shape
    weights = [
        ((j + 0.5) / columns, (i + 0.5) / rows, weight)
        for i, line in enumerate(matrix.values)
        for j, weight in enumerate(line)
        if weight is not None and weight >= MIN_DRAWN_WEIGHT
    ]
    gold_lines = [((j + 0.5) / columns, (i + 0.5) / rows, 0.1) for i, j in matrix.ringed_cells]
    label_points = [(0.0, (j + 0.5) / columns, name) for j, name in enumerate(matrix.columns)]
    label_points += [(1.0, (i + 0.5) / rows, name) for i, name in enumerate(matrix.rows)]
    x = alt.X("x:Q").scale(domain=[-0.6, 1.6], nice=False).axis(None)
    y = alt.Y("y:Q").scale(domain=[1, 0], nice=False).axis(None)
    thickness = alt.StrokeWidth("weight:Q").legend(None).scale(domain=[0, 1], range=[0, 10])

    def lines(
        ends: list[tuple[float, float, float]], colour: str, dash: Sequence[float]
    ) -> alt.Chart:
        table = pd.DataFrame(ends, columns=["y", "y2", "weight"]).assign(x=0.0, x2=1.0)
        return (
            alt.Chart(table)
            .mark_rule(color=colour, strokeDash=list(dash))
            .encode(x, y, alt.X2("x2"), alt.Y2("y2"), thickness)
        )

    labels = alt.Chart(pd.DataFrame(label_points, columns=["x", "y", "name"])).encode(
        x, y, alt.Text("name:N")
    )
    return _layer_with_title(
        matrix,
        theme,
        lines(weights, theme.weight_bar, ()),
        lines(gold_lines, theme.text, (2, 4)),
        labels.transform_filter("datum.x == 0").mark_text(align="right", dx=-8, color=theme.text),
        labels.transform_filter("datum.x == 1").mark_text(align="left", dx=8, color=theme.text),
    ).properties(width=360, height=26 * max(rows, columns))


def draw_cone(matrix: Matrix, theme: Theme) -> alt.LayerChart:
    """A row of dots per layer, and a line from each that is reached to those it sees below."""
    rows, columns = matrix.shape
    reached = [[bool(value) for value in line] for line in matrix.values]
    top = next(i for i, line in enumerate(reached) if any(line))
    width = sum(reached[top + 1])
    dots = pd.DataFrame(
        [(j, i, reached[i][j]) for i in range(rows) for j in range(columns)],
        columns=["x", "y", "reached"],
    )
    lines = pd.DataFrame(
        [
            (j, i, seen, i + 1)
            for i, line in enumerate(reached[:-1])
            for j, is_reached in enumerate(line)
            for seen in range(max(j - width + 1, 0), j + 1)
            if is_reached
        ],
        columns=["x", "y", "x2", "y2"],
    )
    labels = [(j, rows - 0.4, name) for j, name in enumerate(matrix.columns)]
    names = pd.DataFrame(labels, columns=["x", "y", "name"])
    x = alt.X("x:Q").scale(domain=[-1, columns], nice=False).axis(None)
    y = alt.Y("y:Q").scale(domain=[rows, -0.5], nice=False).axis(None)
    colour = alt.Color("reached:N").scale(
        domain=[True, False], range=[theme.weight_bar, theme.grid]
    )
    fan = alt.Chart(lines).mark_rule(color=theme.weight_bar, opacity=0.5)
    words = alt.Chart(names).mark_text(color=theme.text, angle=330, align="right")
    return _layer_with_title(
        matrix,
        theme,
        fan.encode(x, y, alt.X2("x2"), alt.Y2("y2")),
        alt.Chart(dots).mark_circle(size=90, opacity=1).encode(x, y, colour.legend(None)),
        words.encode(x, y, alt.Text("name:N")),
    ).properties(width=64 * (columns + 1), height=34 * (rows + 1))


def _layer_with_title(matrix: Matrix, theme: Theme, *layers: alt.Chart) -> alt.LayerChart:
    title = alt.Title(
        _(matrix.name), subtitle=_(matrix.formula), color=theme.text, subtitleColor=theme.muted
    )
    return alt.LayerChart(layer=list(layers)).properties(title=title)


LINE_DRAWINGS: dict[str, Callable[[Matrix, Theme], alt.LayerChart]] = {
    "arrows": draw_dials,
    "ties": draw_ties,
    "cone": draw_cone,
}
"""The kinds of matrices that are drawn as lines and not as coloured cells."""


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
