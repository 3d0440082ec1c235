"""Bars side by side, and how often a number comes out."""

from collections.abc import Iterable, Sequence
from typing import Literal

import altair as alt
import pandas as pd

from explainers.charts.theme import LAYER_AXIS, Theme, finish
from explainers.translations import _

BAR_HEIGHT, AXIS_HEIGHT = 34, 55
"""Pixels for one bar with its name, and for the axis: on the page a height includes both."""


def make_storable(numbers: Sequence[int]) -> list[int] | list[float]:
    """Whole numbers for a data frame: all become floats if one needs more than 64 bits."""
    return list(map(float, numbers)) if max(numbers, default=0) >= 2**63 else list(numbers)


def make_amount_rows(amounts: Iterable[tuple[str, float]]) -> pd.DataFrame:
    """Names with their numbers, in the given order, for `draw_bars`.

    Pairs, not by name: two names may be one in a translation.
    """
    rows = [(place, name, amount) for place, (name, amount) in enumerate(amounts)]
    return pd.DataFrame(rows, columns=["place", "name", "amount"])


def draw_bars(rows: pd.DataFrame, theme: Theme, length: int, x_title: str) -> alt.TopLevelMixin:
    """Columns place, name, amount: one bar with its name above and its number behind."""
    base = alt.Chart(rows)
    y = alt.Y("place:O").axis(None).scale(paddingInner=0)
    x = alt.X("amount:Q").title(_(x_title)).axis(tickMinStep=1, tickCount=5)
    lengths = base.mark_bar(color=theme.weight_bar, height=BAR_HEIGHT * 0.4, yOffset=6).encode(
        y,
        x,
        tooltip=[
            alt.Tooltip("name:N", title=_("name")),
            alt.Tooltip("amount:Q", format=",", title=_(x_title)),
        ],
    )
    labels = base.mark_text(align="left", fontSize=13, color=theme.text, dy=-9)
    labels = labels.encode(y, alt.Text("label:N"), x=alt.datum(0))
    labels = labels.transform_calculate(label="datum.name + ': ' + format(datum.amount, ',')")
    return finish(lengths + labels, theme, BAR_HEIGHT * length + AXIS_HEIGHT)


STRIP_RANGE = -0.03, -0.12
"""Top and bottom of the strip below the bars, as shares of the tallest bar."""


def make_layer_rows(layers: Sequence[tuple[str, int, int]]) -> pd.DataFrame:
    """(kind, tokens, bytes) of each layer, in the order in which they are drawn."""
    rows = pd.DataFrame(layers, columns=["kind", "tokens", "bytes"]).rename_axis("layer")
    rows = rows.assign(bytes=make_storable([size for _, _, size in layers]))
    rows = rows.reset_index().assign(mib=rows["bytes"] / 2**20)
    top, bottom = (share * rows["mib"].max() for share in STRIP_RANGE)
    return rows.assign(top=top, bottom=bottom)


def draw_layer_bars(rows: pd.DataFrame, theme: Theme) -> alt.TopLevelMixin:
    """The rows of `make_layer_rows`: a bar each, and a strip where a bar is too small to see."""
    by_layer = alt.EncodingSortField("layer", op="min")
    colour = alt.Color("kind:N", sort=by_layer).scale(range=list(theme.series))
    base = alt.Chart(rows).encode(
        alt.X("layer:O")
        .title(_(LAYER_AXIS))
        .axis(labelOverlap="greedy", labelSeparation=6, labelAngle=0),
        colour.legend(orient="top", title=None, labelLimit=300, columns=1, symbolLimit=6),
        tooltip=[
            alt.Tooltip("layer:O", title=_("layer")),
            alt.Tooltip("kind:N", title=_("kind")),
            alt.Tooltip("tokens:Q", format=",", title=_("tokens kept")),
            alt.Tooltip("bytes:Q", format=",", title=_("bytes")),
        ],
    )
    y = alt.Y("mib:Q").scale(nice=False).title(_("MiB of a layer"))
    y = y.axis(tickCount=5, labelExpr="datum.value < 0 ? '' : datum.label")
    bars = base.mark_bar().encode(y)
    strip = base.mark_bar(stroke=theme.background).encode(alt.Y("top:Q"), alt.Y2("bottom:Q"))
    return finish(bars + strip, theme, 300)


CHANCE_HEIGHT = 30


PART_COLOURS = ("kept", "cut", "filled")
"""Parts of a bar for `draw_exchange`, in this order."""


def make_exchange_rows(
    words: Sequence[str], draft: Sequence[float], target: Sequence[float]
) -> pd.DataFrame:
    """What two distributions have in common, what the draft has too much of, and what it lacks."""
    rows = []
    for place, (word, q, p) in enumerate(zip(words, draft, target, strict=True)):
        both, ends = min(p, q), (max(0.0, q - p), max(0.0, p - q))
        rows.append((place, word, "kept", 0.0, both))
        rows += [
            (place, word, part, both, both + size)
            for part, size in zip(PART_COLOURS[1:], ends, strict=True)
            if size
        ]
    return pd.DataFrame(rows, columns=["place", "word", "part", "low", "high"])


def draw_exchange(
    rows: pd.DataFrame, theme: Theme, length: int, parts: Sequence[str]
) -> alt.TopLevelMixin:
    """Columns place, word, part, low, high: a bar per word; `parts` are the names in the legend."""
    colours = [theme.weight_bar, theme.highlight, theme.value]
    names = dict(zip(PART_COLOURS, parts, strict=True))
    label = " : ".join(f"datum.part == '{part}' ? '{name}'" for part, name in names.items())
    base = alt.Chart(rows).transform_calculate(kind=f"{label} : ''")
    y = alt.Y("place:O").axis(None)
    colour = alt.Color("kind:N").scale(domain=[*names.values()], range=colours)
    bars = base.mark_bar(height=CHANCE_HEIGHT * 0.7).encode(
        y,
        alt.X("low:Q").title(_("probability")).axis(tickCount=6),
        alt.X2("high:Q"),
        colour.legend(orient="top", title=None, labelLimit=400),
        tooltip=[
            alt.Tooltip("word:N", title=_("word")),
            alt.Tooltip("kind:N", title=_("part")),
            alt.Tooltip("low:Q", format=".3f", title=_("from")),
            alt.Tooltip("high:Q", format=".3f", title=_("to")),
        ],
    )
    words = base.mark_text(align="right", dx=-6, fontSize=14, color=theme.text, limit=90)
    words = words.encode(y, alt.Text("word:N"), x=alt.datum(0))
    height = CHANCE_HEIGHT * length + 2 * AXIS_HEIGHT  # the axis, and the legend
    return finish((bars + words).properties(padding={"left": 100, "right": 20}), theme, height)


def draw_rises(rows: pd.DataFrame, theme: Theme, x_title: str) -> alt.TopLevelMixin:
    """Columns name, rise, low, high: a bar from 0 for each name, and a stroke from low to high."""
    base = alt.Chart(rows)
    down = alt.Y("name:N", sort=None).title(None).axis(labelFontSize=14, labelLimit=320)
    pointed = [
        alt.Tooltip("name:N", title=_("name")),
        alt.Tooltip("rise:Q", format="+.3f", title=_(x_title)),
        alt.Tooltip("low:Q", format="+.3f", title=_("less the standard error")),
        alt.Tooltip("high:Q", format="+.3f", title=_("and with it")),
    ]
    bars = base.mark_bar(color=theme.weight_bar, height=14).encode(
        down, alt.X("rise:Q").title(_(x_title)), tooltip=pointed
    )
    errors = base.mark_rule(color=theme.text, strokeWidth=2).encode(down, x="low:Q", x2="high:Q")
    return finish(bars + errors, theme, alt.Step(26))


PUSH_HEIGHT = 21
"""Pixels for one bar of `draw_pushes`."""


def draw_pushes(rows: pd.DataFrame, theme: Theme, length: int) -> alt.TopLevelMixin:
    """Columns place, token, logits: a bar to the right of 0, or to the left, with its token."""
    base = alt.Chart(rows)
    y = alt.Y("place:O").axis(None)
    x = alt.X("logits:Q").title(_("added to logits, less their mean"))
    colour = alt.condition("datum.logits < 0", alt.value(theme.below), alt.value(theme.weight_bar))
    bars = base.mark_bar(height=PUSH_HEIGHT * 0.7).encode(
        y,
        x.axis(tickCount=6),
        color=colour,
        tooltip=[
            alt.Tooltip("token:N", title=_("token")),
            alt.Tooltip("logits:Q", format="+.2f", title=_("logits")),
        ],
    )
    places: list[tuple[Literal["right", "left"], int, str]] = [
        ("right", -6, ">="),
        ("left", 6, "<"),
    ]
    labels = [
        base.transform_filter(f"datum.logits {sign} 0")
        .mark_text(fontSize=14, color=theme.text, limit=130, align=align, dx=away)
        .encode(y, alt.Text("token:N"), x=alt.datum(0))
        for align, away, sign in places
    ]
    return finish(alt.layer(bars, *labels), theme, PUSH_HEIGHT * length + AXIS_HEIGHT)
