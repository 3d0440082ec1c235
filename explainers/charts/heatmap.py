"""A matrix as coloured cells, several in a row, and a product with its current row and column."""

import base64
import io
import json
from collections.abc import Sequence

import altair as alt
import pandas as pd
from PIL import Image

from explainers.charts.dress import dressed
from explainers.charts.matrix import Matrix
from explainers.charts.theme import MAX_MARKS_SIDE, Theme, rgb

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


def image_uri(matrix: Matrix, theme: Theme, size: tuple[int, int]) -> str:
    """The whole matrix as one PNG of `size` (width, height), for matrices of too many marks."""
    pixels = bytes(
        channel
        for row in matrix.values
        for value in row
        for channel in _pixel(value, matrix, theme)
    )
    image = Image.frombytes("RGB", matrix.shape[::-1], pixels).resize(
        size, Image.Resampling.NEAREST
    )
    stored = io.BytesIO()
    image.save(stored, "PNG")
    return "data:image/png;base64," + base64.b64encode(stored.getvalue()).decode()


def _panel(matrix: Matrix, theme: Theme) -> alt.LayerChart:
    rows, columns = matrix.shape
    side = CELL if columns <= WITH_NUMBERS else max(420 // columns, 3)
    width = side * columns
    height = CELL * rows if rows <= WITH_NUMBERS else max(420 // rows, 3) * rows
    x = alt.X("x:Q").scale(domain=[0, columns], nice=False).title(matrix.column_axis)
    y = alt.Y("y:Q").scale(domain=[rows, 0], nice=False).title(matrix.row_axis)
    x = x.axis(_label_axis(matrix.columns, "top"))
    y = y.axis(_label_axis(matrix.rows, "left"))
    if max(rows, columns) > MAX_MARKS_SIDE:
        picture = pd.DataFrame(
            {"x": [0], "y": [0], "uri": [image_uri(matrix, theme, (width, height))]}
        )
        layers = (
            alt.Chart(picture)
            .mark_image(width=width, height=height, align="left", baseline="top", aspect=False)
            .encode(x, y, alt.Url("uri:N"))
        )
        layers = alt.layer(layers)
    else:
        table = cells(matrix).dropna(subset="value")
        table = table.assign(
            x=table["column"],
            y=table["row"],
            x2=table["column"] + 1,
            y2=table["row"] + 1,
            x_mid=table["column"] + 0.5,
            y_mid=table["row"] + 0.5,
            ink=[_ink(_pixel(value, matrix, theme)) for value in table["value"]],
        )
        base = alt.Chart(table)
        colour = (
            alt.Color("value:Q")
            .scale(domain=list(_stops(matrix)), range=list(_ramp(matrix, theme)), interpolate="rgb")
            .legend(None)
        )
        rect = base.mark_rect(stroke=theme.grid, strokeWidth=0.5).encode(
            x,
            y,
            alt.X2("x2"),
            alt.Y2("y2"),
            colour,
            tooltip=[
                alt.Tooltip("row_label:N", title=matrix.row_axis),
                alt.Tooltip("column_label:N", title=matrix.column_axis),
                alt.Tooltip("value:Q", format=".4f"),
            ],
        )
        layers = alt.layer(rect)
        if columns <= WITH_NUMBERS:
            layers += base.mark_text(fontSize=11).encode(
                alt.X("x_mid:Q"),
                alt.Y("y_mid:Q"),
                alt.Text("value:Q", format=".2f"),
                alt.Color("ink:N").scale(None),
            )
    title = alt.Title(
        f"{matrix.name}  ({rows} × {columns})",
        subtitle=matrix.formula,
        color=theme.role(matrix.role),
        subtitleColor=theme.muted,
    )
    return layers.properties(width=width, height=height, title=title)


def _frame(theme: Theme, rows: tuple[int, int], columns: tuple[int, int]) -> alt.Chart:
    corners = pd.DataFrame({"x": [columns[0]], "x2": [columns[1]], "y": [rows[0]], "y2": [rows[1]]})
    return (
        alt.Chart(corners)
        .mark_rect(fillOpacity=0, stroke=theme.highlight, strokeWidth=3)
        .encode(alt.X("x:Q"), alt.Y("y:Q"), alt.X2("x2"), alt.Y2("y2"))
    )


def _label_axis(labels: Sequence[str], orient: str) -> alt.Axis:
    """Plot positions, print tokens: a sentence may say "the" twice."""
    every = max(1, len(labels) // 24)
    return alt.Axis(
        orient=orient,
        values=[position + 0.5 for position in range(0, len(labels), every)],
        labelExpr=f"{json.dumps(list(labels))}[floor(datum.value)]",
        labelAngle=-45 if orient == "top" else 0,
        labelLimit=110,
        labelOverlap=False,
        grid=False,
        ticks=False,
        domain=False,
    )


def _ramp(matrix: Matrix, theme: Theme) -> Sequence[str]:
    return theme.weight_ramp if matrix.kind == "weights" else theme.signed_ramp


def _stops(matrix: Matrix) -> Sequence[float]:
    low, high = matrix.domain
    return (low, high) if matrix.kind == "weights" else (low, 0, high)


def _ink(rgb: Sequence[int]) -> str:
    """Black or white, whichever stands out against the cell: at least 4.5 to 1 on any colour."""
    return "#000000" if _luminance(rgb) > 0.179 else "#ffffff"


def _luminance(rgb: Sequence[int]) -> float:
    """Relative luminance (WCAG 2.2)."""
    linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _pixel(value: float | None, matrix: Matrix, theme: Theme) -> tuple[int, ...]:
    """The colour of one cell, interpolated as Vega does it."""
    if value is None:
        return rgb(theme.background)
    low, high = matrix.domain
    ramp = _ramp(matrix, theme)
    place = min(max((value - low) / (high - low), 0.0), 1.0) * (len(ramp) - 1)
    step = min(int(place), len(ramp) - 2)
    return tuple(
        round(a + (b - a) * (place - step))
        for a, b in zip(rgb(ramp[step]), rgb(ramp[step + 1]), strict=True)
    )
