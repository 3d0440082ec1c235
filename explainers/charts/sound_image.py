"""Attention weights of tokens over the time of a sound, above its loudness, as one image."""

import math
from collections.abc import Sequence

import altair as alt
import pandas as pd
from PIL import Image

from explainers.charts.chart_theme import apply_theme
from explainers.charts.pixel_images import encode_image
from explainers.charts.theme import Theme, mix_colours, parse_colour
from explainers.translations import _

LINE_HEIGHT, LOUDNESS_LINES = 18, 3
"""Pixels of a token's line, and how many such lines the loudness takes."""
MIN_WIDTH = 1_500
"""Pixels of the image at least: a browser blurs what it has to stretch."""


def make_sound_rows(
    weights: Sequence[Sequence[float]],
    tokens: Sequence[str],
    loudness: Sequence[float],
    step: float,
    theme: Theme,
    loudness_name: str = "loudness",
) -> pd.DataFrame:
    """A row for each line with what its tooltip says; the first row holds the whole image.

    A column of weights and a loudness belong to every `step` seconds; `loudness_name` is its name.
    """
    end = step * len(loudness)
    names = [*tokens, "", loudness_name, ""]
    rows = pd.DataFrame({"line": [f"{index} {name}" for index, name in enumerate(names)]})
    peaks = [max(range(len(row)), key=row.__getitem__) for row in weights]
    largest = [row[peak] for row, peak in zip(weights, peaks, strict=True)]
    rows["most"] = [*largest, *[None] * LOUDNESS_LINES]
    rows["at"] = [*(step * peak for peak in peaks), *[None] * LOUDNESS_LINES]
    rows["start"], rows["end"] = 0.0, end
    rows["uri"] = [_draw_image(weights, loudness, theme), *[""] * (len(names) - 1)]
    return rows


def draw_sound(rows: pd.DataFrame, theme: Theme, tokens: int) -> alt.TopLevelMixin:
    """The rows of `make_sound_rows` over one axis of seconds."""
    base = alt.Chart(rows)
    x = alt.X("start:Q").scale(nice=False, zero=True).title(_("seconds"))
    label_expression = "slice(datum.label, indexof(datum.label, ' ') + 1)"
    lines = alt.Axis(
        labelExpr=label_expression, ticks=False, domain=False, labelLimit=110, labelOverlap=False
    )
    y = alt.Y("line:N").sort(None).axis(lines).title(None)
    y = y.scale(paddingInner=0, paddingOuter=0)
    height = LINE_HEIGHT * (tokens + LOUDNESS_LINES)
    image = base.transform_filter("datum.uri").mark_image(aspect=False)
    image = image.encode(x, alt.X2("end"), alt.Url("uri:N"), y=alt.value(0), y2=alt.value("height"))
    tooltip = [
        alt.Tooltip("line:N", title=_("written")),
        alt.Tooltip("most:Q", title=_("largest weight"), format=".4f"),
        alt.Tooltip("at:Q", title=_("second"), format=".2f"),
    ]
    line_frames = base.mark_rect(opacity=0).encode(x, y, alt.X2("end"))
    hover_areas = base.transform_filter("isValid(datum.most)").mark_rect(opacity=0)
    hover_areas = hover_areas.encode(x, y, alt.X2("end"), tooltip=tooltip)
    return apply_theme(
        (line_frames + image + hover_areas).properties(width="container", height=height), theme
    )


def _draw_image(weights: Sequence[Sequence[float]], loudness: Sequence[float], theme: Theme) -> str:
    """A PNG: a line of colours per token, darker for larger square roots, then the loudness."""
    num_columns, loudest = len(loudness), max(loudness, default=0.0) or 1.0
    low, high = (parse_colour(colour) for colour in theme.weight_ramp)
    ramp = [mix_colours(low, high, shade / 255) for shade in range(256)]
    image = Image.new(
        "RGB",
        (num_columns, LINE_HEIGHT * (len(weights) + LOUDNESS_LINES)),
        parse_colour(theme.background),
    )
    for row_index, row in enumerate(weights):
        line = Image.new("RGB", (num_columns, 1))
        line.putdata([ramp[round(255 * math.sqrt(max(0.0, min(1.0, w))))] for w in row])
        image.paste(line.resize((num_columns, LINE_HEIGHT - 1)), (0, LINE_HEIGHT * row_index))
    bottom, bar_space = image.height, LINE_HEIGHT * LOUDNESS_LINES - 6
    for column_index, volume in enumerate(loudness):
        bar_height = round(bar_space * volume / loudest)
        image.paste(
            parse_colour(theme.series[0]),
            (column_index, bottom - bar_height, column_index + 1, bottom),
        )
    scale = math.ceil(MIN_WIDTH / num_columns)
    size = num_columns * scale, image.height
    return encode_image(image.resize(size, Image.Resampling.NEAREST))
