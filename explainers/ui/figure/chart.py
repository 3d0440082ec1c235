"""A chart on the page: its specification is built once, its data sent every time."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import streamlit as st

from explainers.charts.theme import LIGHT, THEMES, Theme
from explainers.translations import ENGLISH, _, find_marks, get_language, say_value, set_language
from explainers.ui import browser_files
from explainers.ui.export_mode import get_export, is_whole_export, say_when, stand_in
from explainers.ui.lecture.screens import is_lecture, screen
from explainers.ui.untrusted_text import verbatim

if TYPE_CHECKING:  # pandas takes most of a second to import, and the first page shows no chart
    import pandas as pd


TRANSLATED_COLUMNS = "series", "kind", "name", "model"
"""Columns whose words are the app's own; all others may hold the reader's words."""
LONGEST_TABLE = 200
"""Rows on screen; the CSV has them all."""
ENLARGED = {
    **dict.fromkeys(("draw_bars", "draw_dots", "draw_dot_rows", "draw_text_rises"), (1.35, 1.35)),
    "draw_two_orders": (1.1, 1.7),  # its numbers fill their cells
}
"""Low charts, by their builders: in front of a class how much larger letters are, and how much
higher all else, because half of the screen would be empty."""
_SCRIPTS = browser_files.list_scripts("files", "common")
_save_buttons = browser_files.make_component("files/files.js", "files")
_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")
"""What Streamlit writes as a hyphen where a key names a class."""
LETTERS = "fontSize", "labelFontSize", "titleFontSize", "labelLimit", "dx", "dy", "yOffset"
HEIGHTS = "height", "step", "size"
"""Of a chart, of its rows, of its bars and dots."""


def read_theme() -> Theme:
    """The look that the reader's browser shows now, or that a file is written in."""
    if export := get_export():
        return THEMES[export.theme]
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
    theme, language = read_theme(), get_language()
    rows = translate_rows(rows)
    name = f"{build.__module__}.{build.__qualname__}"
    spec = _build_specification(name, theme.name, language, build, rows, **structure)
    if is_lecture():
        spec = enlarge(spec, *ENLARGED.get(build.__name__, (1, 1)))
    if is_whole_export():
        drawing = _render(lambda: build(rows, theme, **structure), "svg", language)
        stand_in("chart", key, {"svg": drawing, "alt": _(alt)})
    else:
        with screen("picture", key):
            st.vega_lite_chart(rows, spec, key=key, alt=_(alt), theme=None, width="stretch")
    table_rows = rows if table is None else table
    offer_files(key, origin, lambda: table_rows, chart=lambda: build(rows, theme, **structure))


def tabulate(
    rows: Any, columns: Any = None, index: Any = None, index_name: str = ""
) -> "pd.DataFrame":
    """Rows, or columns by name, as a table; an index that has a name is its first column."""
    import pandas as pd

    table = pd.DataFrame(rows, index, columns)
    return table.rename_axis(index_name).reset_index() if index_name else table


def enlarge(spec: Any, letters: float, heights: float) -> Any:
    """The specification with larger letters, and higher."""
    if isinstance(spec, list):
        return [enlarge(one, letters, heights) for one in spec]
    if not isinstance(spec, dict):
        return spec
    factors = dict.fromkeys(LETTERS, letters) | dict.fromkeys(HEIGHTS, heights)
    return {
        name: value * factors[name]
        if name in factors and isinstance(value, int | float)
        else enlarge(value, letters, heights)
        for name, value in spec.items()
    }


def offer_files(
    key: str,
    origin: str,
    table: Callable[[], "pd.DataFrame"],
    *,
    chart: Callable[[], Any] | None = None,
    drawn: str = "",
) -> None:
    """Where the numbers come from, the numbers as a table, and files, made when asked for.

    Of a chart the server makes them, outside of a script run, where the reader's theme is not known
    any more. Of what a component has `drawn`, by its key, the browser saves what is on screen.
    """
    language = get_language()
    with st.container(horizontal=True, vertical_alignment="center"):
        box = st.popover(_("Table and files"), key=f"files {key}", on_change="rerun")
        st.badge(say_when(_(origin)), icon=":material/info:", color="gray")
    if not box.open:
        return
    rows = table()
    with box:
        with st.container(horizontal=True):
            if chart:
                _offer_file(key, "PNG", "image/png", lambda: _render(chart, "png", language))
                _offer_file(key, "SVG", "image/svg+xml", lambda: _render(chart, "svg", language))
            else:
                place = f"st-key-{_NO_NAME.sub('-', drawn)}"
                words = browser_files.translate_scripts(_SCRIPTS)
                data = {"name": key, "place": place, "words": words}
                _save_buttons(key=f"save {key}", data=data, width="content")
            _offer_file(key, "CSV", "text/csv", lambda: rows.to_csv(index=False))
        # A table takes text for Markdown, and some of this text is the reader's.
        st.table(rows.head(LONGEST_TABLE).map(_write_cell))


def _write_cell(value: Any) -> Any:
    if isinstance(value, str):
        return verbatim(value)
    is_written = isinstance(value, float) and get_language() != ENGLISH
    return say_value(float(f"{value:.4f}")) if is_written else value


def _offer_file(key: str, kind: str, mime: str, data: Callable[[], str | bytes]) -> None:
    name = f"{key}.{kind.lower()}"
    st.download_button(
        kind, data, name, mime, key=f"{kind} {key}", on_click="ignore", icon=":material/download:"
    )


def _render(chart: Callable[[], Any], kind: str, language: str) -> str | bytes:
    import vl_convert  # 60 MB, needed only when a file is asked for

    set_language(language)  # files are made in a thread that knows no visitor
    spec = localise_spec(chart().to_dict(), language)
    if spec.get("width") == "container":
        spec["width"] = 700
    if kind == "png":
        return vl_convert.vegalite_to_png(spec, scale=2)
    return vl_convert.vegalite_to_svg(spec)


@st.cache_resource(show_spinner=False, max_entries=100)
def _build_specification(
    name: str,
    theme: str,
    language: str,
    _build: Callable[..., Any],
    _rows: "pd.DataFrame",
    **structure: Any,
) -> dict[str, Any]:
    spec = _build(_rows, THEMES[theme], **structure).to_dict()
    spec.pop("datasets", None)
    spec.pop("data", None)
    return localise_spec(spec, language)


def localise_spec(spec: dict[str, Any], language: str) -> dict[str, Any]:
    """The specification with the number marks of a language; the browser writes the numbers."""
    if language == ENGLISH:
        return spec
    decimal, group = find_marks(language)
    marks = {"decimal": decimal, "thousands": group, "grouping": [3], "currency": ["", ""]}
    return spec | {"config": spec.get("config", {}) | {"locale": {"number": marks}}}


def translate_rows(rows: "pd.DataFrame") -> "pd.DataFrame":
    """The data with its own words in the visitor's language; numbers and tokens stay."""
    if get_language() == ENGLISH:
        return rows

    def say(value: Any) -> Any:
        return _(value) if isinstance(value, str) else value

    return rows.assign(**{name: rows[name].map(say) for name in TRANSLATED_COLUMNS if name in rows})
