"""All heads of a model, or of a layer, as one image with the names of its rows and columns."""

import math
import zlib
from collections.abc import Sequence
from typing import Literal

import altair as alt
import pandas as pd
from PIL import Image

from explainers.charts.chart_theme import apply_theme
from explainers.charts.pixel_images import encode_image
from explainers.charts.theme import Theme, mix_colours, parse_colour
from explainers.translations import _

MAX_SIDE = 2700
"""Pixels of the image at most; a larger one is made smaller."""
WEIGHT_STEPS, GREY_STEPS = 10_000, 254
"""The steps of a packed weight, and those of a shade in one byte; 255 stands for a blank."""
TILE_GAP = 2


def draw_mosaic(
    planes: bytes,
    side: int,
    columns: Sequence[str],
    rows: Sequence[str],
    theme: Theme,
    is_root_scaled: bool = False,
) -> alt.TopLevelMixin:
    """Square matrices as `ui.figure.head_tiles` packs them, drawn as one image."""
    image = _join_tiles(
        _shade_weights(zlib.decompress(planes), is_root_scaled), side, len(columns), len(rows)
    )
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


def _shade_weights(steps: bytes, is_root_scaled: bool) -> bytes:
    """A byte for each packed weight: how dark its cell is, and 255 for a blank."""
    half = len(steps) // 2
    shades = [_shade_weight(step, is_root_scaled) for step in range(WEIGHT_STEPS + 1)]
    return bytes(
        shades[step] if step <= WEIGHT_STEPS else 255
        for low, high in zip(steps[:half], steps[half:], strict=True)
        for step in (low | high << 8,)
    )


def _shade_weight(step: int, is_root_scaled: bool) -> int:
    weight = step / WEIGHT_STEPS
    return round(GREY_STEPS * (math.sqrt(weight) if is_root_scaled else weight))


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
