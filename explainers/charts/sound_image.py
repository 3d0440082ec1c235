"""Weights of written tokens over the time of a sound, and its loudness beneath, as one image."""

import base64
import io
import math
from collections.abc import Sequence

import altair as alt
import pandas as pd
from PIL import Image

from explainers.charts.theme import Theme, rgb
from explainers.charts.themed import dressed
from explainers.translations import _

LINE, LOUD = 18, 3
"""Pixels of a token's line; lines that the loudness takes, the middle one having its name."""
WIDE = 1_500
"""Pixels of the image at least: a browser blurs what it has to stretch."""


def heard_rows(
    weights: Sequence[Sequence[float]],
    tokens: Sequence[str],
    loudness: Sequence[float],
    step: float,
    theme: Theme,
    loud: str = "loudness",
) -> pd.DataFrame:
    """A row for each line: what is hovered for; the first one has the image of all of them.

    A column of weights and a loudness belong to every `step` seconds; `loud` is its name.
    """
    end = step * len(loudness)
    names = [*tokens, "", loud, ""]
    rows = pd.DataFrame({"line": [f"{n} {name}" for n, name in enumerate(names)]})
    best = [max(range(len(row)), key=row.__getitem__) for row in weights]
    rows["most"] = [*(weights[n][place] for n, place in enumerate(best)), *[None] * LOUD]
    rows["at"] = [*(step * place for place in best), *[None] * LOUD]
    rows["start"], rows["end"] = 0.0, end
    rows["uri"] = [_image(weights, loudness, theme), *[""] * (len(names) - 1)]
    return rows


def heard(rows: pd.DataFrame, theme: Theme, tokens: int) -> alt.TopLevelMixin:
    """The rows of `heard_rows` under one axis of seconds."""
    base = alt.Chart(rows)
    x = alt.X("start:Q").scale(nice=False, zero=True).title(_("seconds"))
    said = "slice(datum.label, indexof(datum.label, ' ') + 1)"
    lines = alt.Axis(labelExpr=said, ticks=False, domain=False, labelLimit=110, labelOverlap=False)
    y = alt.Y("line:N").sort(None).axis(lines).title(None)
    y = y.scale(paddingInner=0, paddingOuter=0)
    height = LINE * (tokens + LOUD)
    image = base.transform_filter("datum.uri").mark_image(aspect=False)
    image = image.encode(x, alt.X2("end"), alt.Url("uri:N"), y=alt.value(0), y2=alt.value("height"))
    tips = [
        alt.Tooltip("line:N", title=_("written")),
        alt.Tooltip("most:Q", title=_("largest weight"), format=".4f"),
        alt.Tooltip("at:Q", title=_("second"), format=".2f"),
    ]
    lines_of_all = base.mark_rect(opacity=0).encode(x, y, alt.X2("end"))
    over = base.transform_filter("isValid(datum.most)").mark_rect(opacity=0)
    over = over.encode(x, y, alt.X2("end"), tooltip=tips)
    return dressed(
        (lines_of_all + image + over).properties(width="container", height=height), theme
    )


def _image(weights: Sequence[Sequence[float]], loudness: Sequence[float], theme: Theme) -> str:
    """PNG: a line of colours for each token, the darker the larger the root; then the loudness."""
    count, loudest = len(loudness), max(loudness, default=0.0) or 1.0
    low, high = (rgb(colour) for colour in theme.weight_ramp)
    ramp = [
        tuple(round(a + (b - a) * n / 255) for a, b in zip(low, high, strict=True))
        for n in range(256)
    ]
    drawn = Image.new("RGB", (count, LINE * (len(weights) + LOUD)), rgb(theme.background))
    for number, row in enumerate(weights):
        line = Image.new("RGB", (count, 1))
        line.putdata([ramp[round(255 * math.sqrt(max(0.0, min(1.0, w))))] for w in row])
        drawn.paste(line.resize((count, LINE - 1)), (0, LINE * number))
    bottom, room = drawn.height, LINE * LOUD - 6
    for place, loud in enumerate(loudness):
        high_as = round(room * loud / loudest)
        drawn.paste(rgb(theme.series[0]), (place, bottom - high_as, place + 1, bottom))
    times = math.ceil(WIDE / count)
    stored = io.BytesIO()
    drawn.resize((count * times, drawn.height), Image.Resampling.NEAREST).save(stored, "PNG")
    return "data:image/png;base64," + base64.b64encode(stored.getvalue()).decode()
