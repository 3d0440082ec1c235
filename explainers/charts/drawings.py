"""Matrices that say more as lines: vectors turned pair by pair, and which heads share."""

import math
from collections.abc import Callable, Sequence

import altair as alt
import pandas as pd

from explainers.charts.matrix import Matrix
from explainers.charts.theme import Theme
from explainers.translations import _

FAINT = 0.04
"""A smaller weight has no line."""
APART = 2.5
"""From the middle of one plane to the next, where the longest arrow has length 1."""


def dials(matrix: Matrix, theme: Theme) -> alt.LayerChart:
    """A row is a vector, two columns of it are an arrow; the first row is a query, then a key."""
    planes = range(matrix.shape[1] // 2)
    turns = [math.tau * n / 60 for n in range(61)]
    rim = pd.DataFrame(
        [(APART * p + math.cos(t), math.sin(t), p, t) for p in planes for t in turns],
        columns=["x", "y", "plane", "turn"],
    )
    arrows = pd.DataFrame(
        [
            (APART * p, 0, APART * p + x / matrix.domain[1], y / matrix.domain[1], row)
            for row, line in zip(matrix.rows, matrix.values, strict=True)
            for p, x, y in zip(planes, line[::2], line[1::2], strict=True)
            if x is not None and y is not None
        ],
        columns=["x", "y", "x2", "y2", "row"],
    )
    names = pd.DataFrame({"x": [APART * p for p in planes], "name": matrix.columns[::2], "y": -1.4})
    width = APART * len(planes)
    x = alt.X("x:Q").scale(domain=[-APART / 2, width - APART / 2], nice=False).axis(None)
    y = alt.Y("y:Q").scale(domain=[-1.6, 1.2], nice=False).axis(None)
    rims = alt.Chart(rim).mark_line(color=theme.grid)
    colour = alt.Color("row:N").legend(orient="top", title=None, labelLimit=300)
    colour = colour.scale(domain=[_(row) for row in matrix.rows], range=[theme.query, theme.key])
    lines = alt.Chart(arrows).mark_rule(strokeWidth=3)
    heads = alt.Chart(arrows).mark_point(filled=True, opacity=1, size=60)
    texts = alt.Chart(names).mark_text(color=theme.muted)
    return _titled(
        matrix,
        theme,
        rims.encode(x, y, alt.Detail("plane:N"), alt.Order("turn:Q")),
        lines.encode(x, y, alt.X2("x2"), alt.Y2("y2"), colour),
        heads.encode(alt.X("x2:Q").axis(None), alt.Y("y2:Q").axis(None), colour),
        texts.encode(x, y, alt.Text("name:N")),
    ).properties(width=100 * len(planes), height=112)


def links(matrix: Matrix, theme: Theme) -> alt.LayerChart:
    """Columns stand above, rows below; a line joins those whose cell is not 0."""
    joined = [[j for j, shared in enumerate(line) if shared] for line in matrix.values]
    below = [sum(columns) / len(columns) for columns in joined]
    lines = pd.DataFrame(
        [(j, 1, x, 0) for x, columns in zip(below, joined, strict=True) for j in columns],
        columns=["x", "y", "x2", "y2"],
    )
    heads = [(float(j), 1, name, "query") for j, name in enumerate(matrix.columns)]
    heads += [(x, 0, name, "key") for x, name in zip(below, matrix.rows, strict=True)]
    ends = pd.DataFrame(heads, columns=["x", "y", "name", "role"])
    x = alt.X("x:Q").scale(domain=[-0.6, matrix.shape[1] - 0.4], nice=False).axis(None)
    y = alt.Y("y:Q").scale(domain=[-0.4, 1.4], nice=False).axis(None)
    base = alt.Chart(ends).encode(x, y)
    role = alt.Color("role:N").legend(None)
    role = role.scale(domain=["query", "key"], range=[theme.query, theme.key])
    joins = alt.Chart(lines).mark_rule(color=theme.muted)
    return _titled(
        matrix,
        theme,
        joins.encode(x, y, alt.X2("x2"), alt.Y2("y2")),
        base.mark_point(size=700, filled=True, opacity=1, color=theme.background),
        base.mark_point(size=700, strokeWidth=2).encode(role),
        base.mark_text().encode(role, alt.Text("name:N")),
    ).properties(width=48 * matrix.shape[1], height=120)


def ties(matrix: Matrix, theme: Theme) -> alt.LayerChart:
    """Columns stand left, rows right; the larger a weight the thicker its line; gold is dotted."""
    rows, columns = matrix.shape
    weights = [
        ((j + 0.5) / columns, (i + 0.5) / rows, weight)
        for i, line in enumerate(matrix.values)
        for j, weight in enumerate(line)
        if weight is not None and weight >= FAINT
    ]
    gold = [((j + 0.5) / columns, (i + 0.5) / rows, 0.1) for i, j in matrix.ringed]
    words = [(0.0, (j + 0.5) / columns, name) for j, name in enumerate(matrix.columns)]
    words += [(1.0, (i + 0.5) / rows, name) for i, name in enumerate(matrix.rows)]
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

    texts = alt.Chart(pd.DataFrame(words, columns=["x", "y", "name"])).encode(
        x, y, alt.Text("name:N")
    )
    return _titled(
        matrix,
        theme,
        lines(weights, theme.weight_bar, ()),
        lines(gold, theme.text, (2, 4)),
        texts.transform_filter("datum.x == 0").mark_text(align="right", dx=-8, color=theme.text),
        texts.transform_filter("datum.x == 1").mark_text(align="left", dx=8, color=theme.text),
    ).properties(width=360, height=26 * max(rows, columns))


def _titled(matrix: Matrix, theme: Theme, *layers: alt.Chart) -> alt.LayerChart:
    title = alt.Title(
        _(matrix.name), subtitle=_(matrix.formula), color=theme.text, subtitleColor=theme.muted
    )
    return alt.LayerChart(layer=list(layers)).properties(title=title)


DRAWINGS: dict[str, Callable[[Matrix, Theme], alt.LayerChart]] = {
    "arrows": dials,
    "links": links,
    "ties": ties,
}
"""How a matrix of a kind is drawn, if not as coloured cells."""
