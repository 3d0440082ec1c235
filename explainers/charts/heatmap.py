"""A matrix as coloured cells, several in a row, and a product with its current row and column."""

import json
from collections.abc import Sequence
from typing import Literal

import altair as alt
import pandas as pd

from explainers.charts.chart_theme import apply_theme
from explainers.charts.line_drawings import LINE_DRAWINGS
from explainers.charts.matrix import Matrix
from explainers.charts.pixel_images import (
    choose_ink,
    choose_ramp,
    compute_colour,
    draw_matrix_image,
    list_stops,
)
from explainers.charts.theme import MAX_MARKS_SIDE, Theme
from explainers.translations import _

CELL_SIZE = 34
MAX_NUMBERED_SIDE = 14
"""Up to this many rows or columns a cell is large enough for its number."""


def draw_heatmap(matrix: Matrix, theme: Theme) -> alt.TopLevelMixin:
    """One matrix; cells the mask forbids are blank."""
    return apply_theme(_draw_panel(matrix, theme), theme)


def draw_heatmaps(matrices: Sequence[Matrix], theme: Theme, columns: int = 3) -> alt.TopLevelMixin:
    """Several matrices of one computation, in reading order."""
    panels = [_draw_panel(matrix, theme) for matrix in matrices]
    figure = alt.concat(*panels, columns=columns).resolve_scale(color="independent")
    return apply_theme(figure, theme)


def draw_product(
    left_matrix: Matrix, right_matrix: Matrix, result: Matrix, row: int, column: int, theme: Theme
) -> alt.TopLevelMixin:
    """left · right = result; frames mark one cell of the result, its row and its column."""
    panels = (
        _draw_panel(left_matrix, theme)
        + _draw_frame(theme, (row, row + 1), (0, left_matrix.shape[1])),
        _draw_panel(right_matrix, theme)
        + _draw_frame(theme, (0, right_matrix.shape[0]), (column, column + 1)),
        _draw_panel(result, theme) + _draw_frame(theme, (row, row + 1), (column, column + 1)),
    )
    return apply_theme(alt.hconcat(*panels).resolve_scale(color="independent"), theme)


def make_cell_rows(matrix: Matrix) -> pd.DataFrame:
    """The matrix as a table with a row for each cell."""
    return pd.DataFrame(
        [
            (matrix.name, i, j, matrix.rows[i], matrix.columns[j], value)
            for i, line in enumerate(matrix.values)
            for j, value in enumerate(line)
        ],
        columns=["matrix", "row", "column", "row_label", "column_label", "value"],
    )


def make_table(matrices: Sequence[Matrix]) -> pd.DataFrame:
    """Several matrices as one table, as readers download it."""
    return pd.concat([make_cell_rows(matrix) for matrix in matrices], ignore_index=True)


def _draw_panel(matrix: Matrix, theme: Theme) -> alt.LayerChart:
    if matrix.kind in LINE_DRAWINGS:
        return LINE_DRAWINGS[matrix.kind](matrix, theme)
    rows, columns = matrix.shape
    width = columns * (CELL_SIZE if columns <= MAX_NUMBERED_SIDE else max(420 // columns, 3))
    height = rows * (CELL_SIZE if rows <= MAX_NUMBERED_SIDE else max(420 // rows, 3))
    x = alt.X("x:Q").scale(domain=[0, columns], nice=False).title(_(matrix.column_axis))
    y = alt.Y("y:Q").scale(domain=[rows, 0], nice=False).title(_(matrix.row_axis))
    x = x.axis(_make_axis(matrix.columns, "top"))
    y = y.axis(_make_axis(matrix.rows, "left"))
    if max(rows, columns) > MAX_MARKS_SIDE:
        layers = _draw_image(matrix, theme, x, y, (width, height))
    else:
        layers = _draw_cells(matrix, theme, x, y)
    for i, j in matrix.ringed_cells:
        layers += _draw_frame(theme, (i, i + 1), (j, j + 1))
    title = alt.Title(
        f"{matrix.name}  ({rows} × {columns})",
        subtitle=_(matrix.formula),
        color=theme.role(matrix.role),
        subtitleColor=theme.muted,
    )
    return layers.properties(width=width, height=height, title=title)


def _draw_image(
    matrix: Matrix, theme: Theme, x: alt.X, y: alt.Y, size: tuple[int, int]
) -> alt.LayerChart:
    width, height = size
    picture = pd.DataFrame({"x": [0], "y": [0], "uri": [draw_matrix_image(matrix, theme, size)]})
    mark = alt.Chart(picture).mark_image(
        width=width, height=height, align="left", baseline="top", aspect=False
    )
    return alt.LayerChart(layer=[mark.encode(x, y, alt.Url("uri:N"))])


def _draw_cells(matrix: Matrix, theme: Theme, x: alt.X, y: alt.Y) -> alt.LayerChart:
    table = make_cell_rows(matrix).dropna(subset="value")
    row, column = table["row"], table["column"]
    table = table.assign(x=column, y=row, x2=column + 1, y2=row + 1)
    table = table.assign(x_mid=column + 0.5, y_mid=row + 0.5)
    base = alt.Chart(
        table.assign(ink=[choose_ink(compute_colour(v, matrix, theme)) for v in table["value"]])
    )
    colour = alt.Color("value:Q").legend(None)
    colour = colour.scale(
        domain=list(list_stops(matrix)), range=list(choose_ramp(matrix, theme)), interpolate="rgb"
    )
    tooltip = [
        alt.Tooltip("row_label:N", title=_(matrix.row_axis)),
        alt.Tooltip("column_label:N", title=_(matrix.column_axis)),
        alt.Tooltip("value:Q", format=".4f" if matrix.decimals else ".0f", title=_("value")),
    ]
    cells = base.mark_rect(stroke=theme.grid, strokeWidth=0.5)
    layers = [cells.encode(x, y, alt.X2("x2"), alt.Y2("y2"), colour, tooltip=tooltip)]
    if len(matrix.columns) <= MAX_NUMBERED_SIDE:
        numbers = base.mark_text(fontSize=11).encode(
            alt.X("x_mid:Q"),
            alt.Y("y_mid:Q"),
            alt.Text("value:Q", format=f".{matrix.decimals}f"),
            alt.Color("ink:N").scale(None),
        )
        layers.append(numbers)
    return alt.LayerChart(layer=layers)


def _draw_frame(theme: Theme, rows: tuple[int, int], columns: tuple[int, int]) -> alt.Chart:
    corners = pd.DataFrame({"x": [columns[0]], "x2": [columns[1]], "y": [rows[0]], "y2": [rows[1]]})
    return (
        alt.Chart(corners)
        .mark_rect(fillOpacity=0, stroke=theme.highlight, strokeWidth=3)
        .encode(alt.X("x:Q"), alt.Y("y:Q"), alt.X2("x2"), alt.Y2("y2"))
    )


def _make_axis(labels: Sequence[str], orient: Literal["top", "left"]) -> alt.Axis:
    """Plot positions, print tokens: a sentence may say "the" twice."""
    step = max(1, len(labels) // 24)
    return alt.Axis(
        orient=orient,
        values=[position + 0.5 for position in range(0, len(labels), step)],
        tickCount=len(labels),  # or Vega drops every other value
        labelExpr=f"{json.dumps(list(labels))}[floor(datum.value)]",
        labelAngle=-45 if orient == "top" else 0,
        labelLimit=110,
        labelOverlap=False,
        grid=False,
        ticks=False,
        domain=False,
    )
