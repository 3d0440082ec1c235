"""A matrix as coloured cells, several in a row, and a product with its current row and column."""

import json
from collections.abc import Sequence
from typing import Literal

import altair as alt
import pandas as pd

from explainers.charts.colours import image_uri, ink, pixel, ramp, stops
from explainers.charts.drawings import DRAWINGS
from explainers.charts.matrix import Matrix
from explainers.charts.theme import MAX_MARKS_SIDE, Theme
from explainers.charts.themed import dressed
from explainers.translations import _

CELL = 34
WITH_NUMBERS = 14
"""Up to this many columns the numbers are printed into the cells."""


def heatmap(matrix: Matrix, theme: Theme) -> alt.TopLevelMixin:
    """One matrix; cells the mask forbids are blank."""
    return dressed(_panel(matrix, theme), theme)


def heatmaps(matrices: Sequence[Matrix], theme: Theme, columns: int = 3) -> alt.TopLevelMixin:
    """Several matrices of one computation, in reading order."""
    panels = [_panel(matrix, theme) for matrix in matrices]
    figure = alt.concat(*panels, columns=columns).resolve_scale(color="independent")
    return dressed(figure, theme)


def product(
    left: Matrix, right: Matrix, result: Matrix, row: int, column: int, theme: Theme
) -> alt.TopLevelMixin:
    """left · right = result, with the row, the column and the cell that belong together framed."""
    panels = (
        _panel(left, theme) + _frame(theme, (row, row + 1), (0, left.shape[1])),
        _panel(right, theme) + _frame(theme, (0, right.shape[0]), (column, column + 1)),
        _panel(result, theme) + _frame(theme, (row, row + 1), (column, column + 1)),
    )
    return dressed(alt.hconcat(*panels).resolve_scale(color="independent"), theme)


def cells(matrix: Matrix) -> pd.DataFrame:
    """The matrix as a table, a line per cell."""
    return pd.DataFrame(
        [
            (matrix.name, i, j, matrix.rows[i], matrix.columns[j], value)
            for i, line in enumerate(matrix.values)
            for j, value in enumerate(line)
        ],
        columns=["matrix", "row", "column", "row_label", "column_label", "value"],
    )


def table_of(matrices: Sequence[Matrix]) -> pd.DataFrame:
    """Several matrices as one table; this is what the CSV holds."""
    return pd.concat([cells(matrix) for matrix in matrices], ignore_index=True)


def _panel(matrix: Matrix, theme: Theme) -> alt.LayerChart:
    if matrix.kind in DRAWINGS:
        return DRAWINGS[matrix.kind](matrix, theme)
    rows, columns = matrix.shape
    width = columns * (CELL if columns <= WITH_NUMBERS else max(420 // columns, 3))
    height = rows * (CELL if rows <= WITH_NUMBERS else max(420 // rows, 3))
    x = alt.X("x:Q").scale(domain=[0, columns], nice=False).title(_(matrix.column_axis))
    y = alt.Y("y:Q").scale(domain=[rows, 0], nice=False).title(_(matrix.row_axis))
    x = x.axis(_label_axis(matrix.columns, "top"))
    y = y.axis(_label_axis(matrix.rows, "left"))
    if max(rows, columns) > MAX_MARKS_SIDE:
        layers = _one_image(matrix, theme, x, y, (width, height))
    else:
        layers = _marks(matrix, theme, x, y)
    for i, j in matrix.ringed:
        layers += _frame(theme, (i, i + 1), (j, j + 1))
    title = alt.Title(
        f"{matrix.name}  ({rows} × {columns})",
        subtitle=_(matrix.formula),
        color=theme.role(matrix.role),
        subtitleColor=theme.muted,
    )
    return layers.properties(width=width, height=height, title=title)


def _one_image(
    matrix: Matrix, theme: Theme, x: alt.X, y: alt.Y, size: tuple[int, int]
) -> alt.LayerChart:
    width, height = size
    picture = pd.DataFrame({"x": [0], "y": [0], "uri": [image_uri(matrix, theme, size)]})
    mark = alt.Chart(picture).mark_image(
        width=width, height=height, align="left", baseline="top", aspect=False
    )
    return alt.LayerChart(layer=[mark.encode(x, y, alt.Url("uri:N"))])


def _marks(matrix: Matrix, theme: Theme, x: alt.X, y: alt.Y) -> alt.LayerChart:
    table = cells(matrix).dropna(subset="value")
    row, column = table["row"], table["column"]
    table = table.assign(x=column, y=row, x2=column + 1, y2=row + 1)
    table = table.assign(x_mid=column + 0.5, y_mid=row + 0.5)
    base = alt.Chart(table.assign(ink=[ink(pixel(v, matrix, theme)) for v in table["value"]]))
    colour = alt.Color("value:Q").legend(None)
    colour = colour.scale(
        domain=list(stops(matrix)), range=list(ramp(matrix, theme)), interpolate="rgb"
    )
    tooltip = [
        alt.Tooltip("row_label:N", title=_(matrix.row_axis)),
        alt.Tooltip("column_label:N", title=_(matrix.column_axis)),
        alt.Tooltip("value:Q", format=".4f" if matrix.places else ".0f", title=_("value")),
    ]
    coloured = base.mark_rect(stroke=theme.grid, strokeWidth=0.5)
    layers = [coloured.encode(x, y, alt.X2("x2"), alt.Y2("y2"), colour, tooltip=tooltip)]
    if len(matrix.columns) <= WITH_NUMBERS:
        numbers = base.mark_text(fontSize=11).encode(
            alt.X("x_mid:Q"),
            alt.Y("y_mid:Q"),
            alt.Text("value:Q", format=f".{matrix.places}f"),
            alt.Color("ink:N").scale(None),
        )
        layers.append(numbers)
    return alt.LayerChart(layer=layers)


def _frame(theme: Theme, rows: tuple[int, int], columns: tuple[int, int]) -> alt.Chart:
    corners = pd.DataFrame({"x": [columns[0]], "x2": [columns[1]], "y": [rows[0]], "y2": [rows[1]]})
    return (
        alt.Chart(corners)
        .mark_rect(fillOpacity=0, stroke=theme.highlight, strokeWidth=3)
        .encode(alt.X("x:Q"), alt.Y("y:Q"), alt.X2("x2"), alt.Y2("y2"))
    )


def _label_axis(labels: Sequence[str], orient: Literal["top", "left"]) -> alt.Axis:
    """Plot positions, print tokens: a sentence may say "the" twice."""
    every = max(1, len(labels) // 24)
    return alt.Axis(
        orient=orient,
        values=[position + 0.5 for position in range(0, len(labels), every)],
        tickCount=len(labels),  # or Vega drops every other value
        labelExpr=f"{json.dumps(list(labels))}[floor(datum.value)]",
        labelAngle=-45 if orient == "top" else 0,
        labelLimit=110,
        labelOverlap=False,
        grid=False,
        ticks=False,
        domain=False,
    )
