"""A text as its tokens in a row, each with its id underneath."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from explainers.charts.chart_theme import apply_theme
from explainers.charts.theme import Theme
from explainers.translations import _

LINE_LENGTH = 44
"""Characters to a line: what a phone can show at a readable size."""
TOKEN_PADDING = 1.2


def make_strip_rows(texts: Sequence[str], notes: Sequence[str]) -> pd.DataFrame:
    """Where each token stands, wrapped into lines; `notes` are printed underneath (its ids)."""
    rows, line, x = [], 0, 0.0
    for position, (text, note) in enumerate(zip(texts, notes, strict=True)):
        label = text.replace(" ", "␣")
        width = min(max(len(label), 0.8 * len(note)) + TOKEN_PADDING, LINE_LENGTH)
        if x + width > LINE_LENGTH:
            line, x = line + 1, 0.0
        middle = x + width / 2
        rows.append((position, label, note, line, line + 0.55, line + 0.8, x, x + width, middle))
        x += width
    names = ["position", "token", "note", "top", "bottom", "under", "x", "x2", "middle"]
    return pd.DataFrame(rows, columns=names)


def draw_token_strip(rows: pd.DataFrame, theme: Theme, lines: int) -> alt.TopLevelMixin:
    """The tokens of `make_strip_rows`; the space in front of a word is printed as ␣."""
    base = alt.Chart(rows)
    x = alt.X("x:Q").scale(domain=[0, LINE_LENGTH], nice=False).axis(None)
    y = alt.Y("top:Q").scale(domain=[lines, 0], nice=False).axis(None)
    boxes = base.mark_rect(cornerRadius=4, stroke=theme.background, strokeWidth=2).encode(
        x,
        y,
        alt.X2("x2"),
        alt.Y2("bottom"),
        alt.Color("odd:N").scale(domain=[0, 1], range=[theme.grid, theme.band]).legend(None),
        tooltip=[
            alt.Tooltip("position:Q", title=_("position")),
            alt.Tooltip("token:N", title=_("token")),
            alt.Tooltip("note:N", title=_("id")),
        ],
    )
    boxes = boxes.transform_calculate(odd="datum.position % 2")
    words = base.mark_text(fontSize=13, color=theme.text, font="Source Code Pro, monospace")
    words = words.encode(alt.X("middle:Q"), alt.Y("mid:Q"), alt.Text("token:N"))
    words = words.transform_calculate(mid="(datum.top + datum.bottom) / 2")
    ids = base.mark_text(fontSize=10.5, color=theme.muted)
    ids = ids.encode(alt.X("middle:Q"), alt.Y("under:Q"), alt.Text("note:N"))
    return apply_theme(
        (boxes + words + ids).properties(width="container", height=58 * lines), theme
    )
