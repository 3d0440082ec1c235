"""Images of pixels: cells of a matrix, all heads of a model."""

import base64
import io
import zlib
from collections.abc import Sequence
from typing import Literal

import altair as alt
import pandas as pd
from PIL import Image

from explainers.charts.chart_theme import apply_theme
from explainers.charts.matrix import Matrix
from explainers.charts.theme import Theme, mix_colours, parse_colour
from explainers.translations import _


def choose_ramp(matrix: Matrix, theme: Theme) -> Sequence[str]:
    """The colours from the lowest to the highest number."""
    return theme.weight_ramp if matrix.kind == "weights" else theme.signed_ramp


def list_stops(matrix: Matrix) -> Sequence[float]:
    """The numbers that the colours of `choose_ramp` stand for."""
    low, high = matrix.domain
    return (low, high) if matrix.kind == "weights" else (low, 0, high)


def choose_ink(rgb: Sequence[int]) -> str:
    """Black or white, whichever stands out against the cell: at least 4.5 to 1 on any colour."""
    return "#000000" if compute_luminance(rgb) > 0.179 else "#ffffff"


def compute_luminance(rgb: Sequence[int]) -> float:
    """Relative luminance (WCAG 2.2)."""
    linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def compute_colour(value: float | None, matrix: Matrix, theme: Theme) -> tuple[int, ...]:
    """The colour of one cell, interpolated as Vega does it."""
    if value is None:
        return parse_colour(theme.background)
    low, high = matrix.domain
    colours = choose_ramp(matrix, theme)
    position = min(max((value - low) / (high - low), 0.0), 1.0) * (len(colours) - 1)
    step = min(int(position), len(colours) - 2)
    low_colour, high_colour = map(parse_colour, colours[step : step + 2])
    return mix_colours(low_colour, high_colour, position - step)


def encode_image(image: Image.Image) -> str:
    """An image as the address of a PNG that holds its own data."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def draw_matrix_image(matrix: Matrix, theme: Theme, size: tuple[int, int]) -> str:
    """A whole matrix as one PNG of `size` (width, height)."""
    pixels = bytes(
        channel
        for row in matrix.values
        for value in row
        for channel in compute_colour(value, matrix, theme)
    )
    image = Image.frombytes("RGB", matrix.shape[::-1], pixels)
    return encode_image(image.resize(size, Image.Resampling.NEAREST))


MAX_SIDE = 2700
"""Pixels of the image at most; a larger one is made smaller."""
WEIGHT_STEPS, GREY_STEPS = 10_000, 254
"""The steps of a packed weight, and those of a shade in one byte; 255 stands for a blank."""
TILE_GAP = 2


def draw_mosaic(
    planes: bytes, side: int, columns: Sequence[str], rows: Sequence[str], theme: Theme
) -> alt.TopLevelMixin:
    """Square matrices as `ui.figure.head_tiles` packs them, drawn as one image."""
    image = _join_tiles(_shade_weights(zlib.decompress(planes)), side, len(columns), len(rows))
    low, high = (parse_colour(colour) for colour in theme.weight_ramp)
    shades = [n / GREY_STEPS for n in range(GREY_STEPS + 1)]
    palette = [channel for shade in shades for channel in mix_colours(low, high, shade)]
    image.putpalette([*palette, *parse_colour(theme.background)])
    rgb_image = image.convert("RGB")
    rgb_image.thumbnail((MAX_SIDE, MAX_SIDE))
    width, height = max(rgb_image.width, 40 * len(columns)), max(rgb_image.height, 20 * len(rows))
    uri = encode_image(rgb_image)
    x = alt.X("x:Q").scale(domain=[0, len(columns)], nice=False).title(_("layer"))
    y = alt.Y("y:Q").scale(domain=[len(rows), 0], nice=False).title(_("head"))
    picture = alt.Chart(pd.DataFrame({"x": [0], "y": [0], "uri": [uri]}))
    mark = picture.mark_image(
        width=width, height=height, align="left", baseline="top", aspect=False
    ).encode(x.axis(_make_axis(columns, "top")), y.axis(_make_axis(rows, "left")), alt.Url("uri:N"))
    return apply_theme(mark.properties(width=width, height=height), theme)


def _shade_weights(steps: bytes) -> bytes:
    """A byte for each packed weight: how dark its cell is, and 255 for a blank."""
    half = len(steps) // 2
    shades = [round(GREY_STEPS * step / WEIGHT_STEPS) for step in range(WEIGHT_STEPS + 1)]
    return bytes(
        shades[step] if step <= WEIGHT_STEPS else 255
        for low, high in zip(steps[:half], steps[half:], strict=True)
        for step in (low | high << 8,)
    )


def _join_tiles(shades: bytes, side: int, columns: int, rows: int) -> Image.Image:
    """The tiles in a grid, column after column, with a gap between them."""
    step = side + TILE_GAP
    image = Image.new("P", (columns * step, rows * step), 255)
    for tile_index in range(columns * rows):
        column, row = divmod(tile_index, rows)
        first = tile_index * side**2
        tile = Image.frombytes("P", (side, side), shades[first : first + side**2])
        image.paste(tile, (column * step, row * step))
    return image


def _make_axis(labels: Sequence[str], orient: Literal["top", "left"]) -> alt.Axis:
    positions = [position + 0.5 for position in range(len(labels))]
    label_expression = f"{list(labels)}[floor(datum.value)]".replace("'", '"')
    return alt.Axis(
        orient=orient,
        values=positions,
        labelExpr=label_expression,
        grid=False,
        ticks=False,
        domain=False,
    )
