"""A chart on the page: its specification is built once, its data sent every time."""

from functools import partial
from typing import TYPE_CHECKING, Any

from explainers.ui.text.language import ENGLISH, in_language, language, translated

if TYPE_CHECKING:  # pandas takes most of a second to import
    import pandas as pd
from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from explainers.charts.theme import LIGHT, THEMES, Theme
from explainers.ui.text.language import said
from explainers.ui.untrusted_text import verbatim

if TYPE_CHECKING:  # pandas takes most of a second to import, and the first page shows no chart
    import pandas as pd


OURS = "series", "kind", "name", "model"
"""Columns whose words are ours, or names; all others may hold the reader's words."""
TITLES, WORDS = ("title", "text", "subtitle"), ("domain", "values")


def rows_in_words(rows: "pd.DataFrame") -> "pd.DataFrame":
    """The data of a chart with its own words said; numbers and tokens stay."""
    if language() == ENGLISH:
        return rows
    said = {name: rows[name].map(_word) for name in OURS if name in rows}
    return rows.assign(**said)


def _word(value: Any) -> Any:
    return translated(value) if isinstance(value, str) else value


def chart_in_words(spec: Any, spoken: str) -> Any:
    """A specification of Vega-Lite with its words said."""
    if spoken == ENGLISH:
        return spec
    if isinstance(spec, list):
        return [chart_in_words(part, spoken) for part in spec]
    if not isinstance(spec, dict):
        return spec
    said = {key: _part(key, part, spoken) for key, part in spec.items()}
    for tip in said.get("tooltip", ()) if isinstance(said.get("tooltip"), list) else ():
        tip.setdefault("title", in_language(spoken, tip.get("field", "")))
    return said


def _part(key: str, part: Any, spoken: str) -> Any:
    say = partial(in_language, spoken)
    if key in TITLES and isinstance(part, str):
        return say(part)
    if key in TITLES + WORDS and isinstance(part, list):
        return [say(word) if isinstance(word, str) else word for word in part]
    return chart_in_words(part, spoken)


LONGEST_TABLE = 200
"""Rows on screen; the CSV has them all."""


def theme() -> Theme:
    """The look that the reader's browser shows now."""
    return THEMES.get(st.context.theme.type or LIGHT.name, LIGHT)


def show_chart(
    build: Callable[..., Any],
    rows: "pd.DataFrame",
    alt: str,
    key: str,
    origin: str,
    *,
    table: "pd.DataFrame | None" = None,
    **structure: Any,
) -> None:
    """Draw `build(rows, theme, **structure)`; `table` has its numbers if the rows do not.

    Altair runs once per builder, theme and structure, which is ten times cheaper than on every
    rerun, and a specification that stays the same keeps zoom and does not flash. Therefore
    nothing that depends on `rows` may enter the specification.
    """
    look, spoken = theme(), language()
    rows = rows_in_words(rows)
    name = f"{build.__module__}.{build.__qualname__}"
    spec = _specification(name, look.name, spoken, build, rows, **structure)
    st.vega_lite_chart(rows, spec, key=key, alt=translated(alt), theme=None, width="stretch")
    shown = rows if table is None else table
    take_away(key, origin, lambda: build(rows, look, **structure), lambda: shown)


def take_away(
    key: str, origin: str, chart: Callable[[], Any], table: Callable[[], "pd.DataFrame"]
) -> None:
    """Where the numbers come from, the numbers as a table, and files, made when asked for.

    Files are made outside of a script run, where the reader's theme is not known any more.
    """
    spoken = language()
    with st.container(horizontal=True, vertical_alignment="center"):
        box = st.popover(said("Table and files"), key=f"files {key}", on_change="rerun")
        st.badge(translated(origin), icon=":material/info:", color="gray")
    if not box.open:
        return
    rows = table()
    with box:
        with st.container(horizontal=True):
            _file(key, "PNG", "image/png", lambda: _rendered(chart, "png", spoken))
            _file(key, "SVG", "image/svg+xml", lambda: _rendered(chart, "svg", spoken))
            _file(key, "CSV", "text/csv", lambda: rows.to_csv(index=False))
        # A table takes text for Markdown, and some of this text is the reader's.
        st.table(rows.head(LONGEST_TABLE).map(lambda v: verbatim(v) if isinstance(v, str) else v))


def _file(key: str, kind: str, mime: str, data: Callable[[], str | bytes]) -> None:
    name = f"{key}.{kind.lower()}"
    st.download_button(
        kind, data, name, mime, key=f"{kind} {key}", on_click="ignore", icon=":material/download:"
    )


def _rendered(chart: Callable[[], Any], kind: str, spoken: str) -> str | bytes:
    import vl_convert  # 60 MB, needed only when a file is asked for

    spec = chart_in_words(chart().to_dict(), spoken)
    width = spec.get("width")
    if width == "container":
        spec["width"] = 700
    if kind == "png":
        return vl_convert.vegalite_to_png(spec, scale=2)
    return vl_convert.vegalite_to_svg(spec)


@st.cache_resource(show_spinner=False, max_entries=100)
def _specification(
    name: str,
    look: str,
    spoken: str,
    _build: Callable[..., Any],
    _rows: "pd.DataFrame",
    **structure: Any,
) -> dict[str, Any]:
    spec = _build(_rows, THEMES[look], **structure).to_dict()
    spec.pop("datasets", None)
    spec.pop("data", None)
    return chart_in_words(spec, spoken)
