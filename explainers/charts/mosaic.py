"""All heads of a model, or of a layer, as one image with the names of its rows and columns."""

import base64
import io
import math
import zlib
from collections.abc import Sequence
from typing import Literal

import altair as alt
import pandas as pd
from PIL import Image

from explainers.charts.theme import Theme, rgb
from explainers.charts.themed import dressed
from explainers.translations import _

WIDEST = 2700
"""Pixels; what is larger is made smaller."""
STEPS, GREYS = 10_000, 254
"""Of a weight as it is packed, and of a byte; one more stands for a blank."""
BETWEEN = 2


def mosaic(
    planes: bytes,
    side: int,
    across: Sequence[str],
    down: Sequence[str],
    theme: Theme,
    rooted: bool = False,
) -> alt.TopLevelMixin:
    """Square matrices as `ui.tiles` packs them, drawn as one image."""
    whole = _joined(_greys(zlib.decompress(planes), rooted), side, len(across), len(down))
    low, high = (rgb(colour) for colour in theme.weight_ramp)
    shades = [n / GREYS for n in range(GREYS + 1)]
    palette = [round(a + (b - a) * s) for s in shades for a, b in zip(low, high, strict=True)]
    whole.putpalette([*palette, *rgb(theme.background)])
    drawn = whole.convert("RGB")
    drawn.thumbnail((WIDEST, WIDEST))
    stored = io.BytesIO()
    drawn.save(stored, "PNG")
    width, height = max(drawn.width, 40 * len(across)), max(drawn.height, 20 * len(down))
    uri = "data:image/png;base64," + base64.b64encode(stored.getvalue()).decode()
    x = alt.X("x:Q").scale(domain=[0, len(across)], nice=False).title(_("layer"))
    y = alt.Y("y:Q").scale(domain=[len(down), 0], nice=False).title(_("head"))
    picture = alt.Chart(pd.DataFrame({"x": [0], "y": [0], "uri": [uri]}))
    mark = picture.mark_image(
        width=width, height=height, align="left", baseline="top", aspect=False
    ).encode(x.axis(_names(across, "top")), y.axis(_names(down, "left")), alt.Url("uri:N"))
    return dressed(mark.properties(width=width, height=height), theme)


def _greys(steps: bytes, rooted: bool) -> bytes:
    """A byte for each number: how dark it is, and 255 for a blank."""
    half = len(steps) // 2
    shade = [_grey(step, rooted) for step in range(STEPS + 1)]
    return bytes(
        shade[step] if step <= STEPS else 255
        for low, high in zip(steps[:half], steps[half:], strict=True)
        for step in (low | high << 8,)
    )


def _grey(step: int, rooted: bool) -> int:
    share = step / STEPS
    return round(GREYS * (math.sqrt(share) if rooted else share))


def _joined(greys: bytes, side: int, columns: int, rows: int) -> Image.Image:
    """The tiles beside and below each other, a little apart."""
    step = side + BETWEEN
    whole = Image.new("P", (columns * step, rows * step), 255)
    for place in range(columns * rows):
        column, row = divmod(place, rows)
        tile = Image.frombytes("P", (side, side), greys[place * side**2 : (place + 1) * side**2])
        whole.paste(tile, (column * step, row * step))
    return whole


def _names(labels: Sequence[str], orient: Literal["top", "left"]) -> alt.Axis:
    places = [place + 0.5 for place in range(len(labels))]
    said = f"{list(labels)}[floor(datum.value)]".replace("'", '"')
    return alt.Axis(
        orient=orient, values=places, labelExpr=said, grid=False, ticks=False, domain=False
    )
