"""Linked matrices in the browser: point, click and step without waiting for the server."""

import math
import sys
from array import array
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import streamlit as st

from explainers.arithmetic import Arithmetic
from explainers.charts.matrix import Values, find_largest
from explainers.charts.theme import Theme, parse_colour
from explainers.messages import Message
from explainers.translations import _
from explainers.ui import browser_files
from explainers.ui.export_mode import is_whole_export, note
from explainers.ui.figure.chart import offer_files, read_theme
from explainers.ui.figure.panels import (
    Cell,
    Figure,
    Panel,
    Slider,
    Source,
    View,
    ViewSlider,
    list_axes,
    translate_figure,
    translate_matrix,
)
from explainers.ui.lecture.screens import is_lecture, screen
from explainers.ui.session import CLICKED

if TYPE_CHECKING:
    import pandas as pd


STEPS, HIDDEN = 32_767, -32_768
"""Of 16 bits: a number is so many steps of the largest one, and a blank is what no number is."""


def round_values(values: Values) -> list[list[float | None]]:
    """Six digits, twice what is printed: half the bytes to send."""
    return [[None if v is None else float(f"{v:.6g}") for v in line] for line in values]


def pack_values(values: Values) -> dict[str, Any]:
    """16 bits a number, a quarter of the digits' bytes and still more than a colour can tell."""
    unit = find_largest(values) / STEPS or 1.0  # the smallest numbers that floats know have no part
    flat = [HIDDEN if v is None else round(v / unit) for line in values for v in line]
    numbers = array("h", flat)
    if sys.byteorder == "big":
        numbers.byteswap()
    return {"unit": unit, "steps": b64encode(numbers.tobytes()).decode()}


_SCRIPTS = browser_files.list_scripts("figure", "common")
_component = browser_files.make_component("figure/figure.js", "figure")
PANEL_FIELDS = (*("operator", "heading", "has_page", "flipped", "small", "muted", "followed"),)
"""What a panel says of itself is sent without a change."""
RAMPS = {"signed": "signed_ramp", "weights": "weight_ramp"}
"""The kinds of matrices whose numbers are colours."""
SLIDER_FIELDS = ("label", "labels", "index", "plays", "name", "hidden")
MOST_CELLS, MOST_READ, LONGEST_SIDE = 1500, 128, 32
"""A matrix with more is drawn as one image; `browser/figure` draws what it is told."""


def show_matrices(figure: Figure, theme: Theme, key: str) -> str:
    """Draw the panels, wrapped to the width there is; returns the panel whose name was clicked.

    What the browser tells is counted, and the count sent back, so that the browser can see which
    of its messages a new picture answers.
    """
    by_id, count_key = {panel.id: panel for panel in figure.panels}, f"{key} count"

    def pick() -> None:
        last_answer = st.session_state.get(count_key, 0)
        for cell in [cell for cell in st.session_state[key].cell if cell["count"] > last_answer]:
            panel = by_id.get(cell["panel"])
            if panel and figure.on_pick:
                indices = cell["row"], cell["column"]
                figure.on_pick(Cell(panel.id, *(indices[::-1] if panel.flipped else indices)))
            st.session_state[count_key] = cell["count"]

    def turn(slider: Slider | None, message: dict[str, Any]) -> None:
        st.session_state[count_key] = message["count"]
        if slider:
            slider.on_turn(min(max(int(message["place"]), 0), len(slider.labels) - 1))

    panels = {name: _describe_panel(panel, by_id, theme) for name, panel in by_id.items()}
    with screen("picture", key):
        result = _component(
            key=key,
            data={
                "panels": list(panels.values()),
                "alt": figure.alt,
                "words": browser_files.translate_scripts(_SCRIPTS, list_axes(figure.panels)),
                "ramps": {
                    kind: [list(parse_colour(c)) for c in getattr(theme, n)]
                    for kind, n in RAMPS.items()
                },
                "background": parse_colour(theme.background),
                "highlight": theme.highlight,
                "selected": _describe_selection(figure.picked, by_id),
                "pickable": figure.on_pick is not None,
                "stepper": figure.stepper,
                "slider": _describe_slider(figure.slider),
                "working": figure.working,
                "view_slider": _describe_slider(figure.view_slider),
                "views": {
                    place: _describe_view(view, panels, theme)
                    for place, view in figure.views.items()
                },
                **_describe_words(figure),
                "echo": st.session_state.get(count_key, 0),
            },
            on_cell_change=pick,
            on_frame_change=lambda: turn(figure.slider, st.session_state[key].frame),
            on_view_change=lambda: turn(figure.view_slider, st.session_state[key].view),
            on_open_change=lambda: None,
            on_theme_change=lambda: None,
        )
    if result.theme:
        st.rerun()  # every picture of the page in the reader's new colours
    return result.open or ""


def _describe_slider(slider: Slider | None) -> dict[str, Any] | None:
    return {name: getattr(slider, name) for name in SLIDER_FIELDS} if slider else None


def _describe_view(view: Figure, drawn: dict[str, dict[str, Any]], theme: Theme) -> dict[str, Any]:
    """What is other than in the picture that was drawn."""
    by_id = {panel.id: panel for panel in view.panels}
    changes = []
    for panel in by_id.values():
        now, before = _describe_panel(panel, by_id, theme), drawn.get(panel.id, {})
        same = {name for name, value in now.items() if name in before and before[name] == value}
        changes.append({name: now[name] for name in now if name == "id" or name not in same})
    return {
        "panels": changes,
        "selected": _describe_selection(view.picked, by_id),
        "working": view.working,
        **_describe_words(view),
    }


def _describe_words(figure: Figure) -> dict[str, Any]:
    """The page's words, and what they name, in the visitor's language.

    A number is sent as it is: the browser gives it the marks of the language.
    """
    named = [
        {slot: _(name) if isinstance(name, Message) else str(name) for slot, name in one.items()}
        for one in figure.named
    ]
    return {"template": figure.template, "named": named}


def _describe_panel(panel: Panel, by_id: dict[str, Panel], theme: Theme) -> dict[str, Any]:
    matrix, frames = panel.matrix, panel.frames
    if panel.flipped:
        matrix = matrix.transposed()
        frames = tuple([list(column) for column in zip(*one, strict=True)] for one in frames)
    low, high = matrix.domain
    most_cells = MOST_READ if panel.dense else MOST_CELLS
    is_image = max(matrix.shape) > LONGEST_SIDE or math.prod(matrix.shape) > most_cells
    encode: Callable[[Values], Any] = round_values
    if matrix.kind == "lines":
        encode = list  # every digit is printed
    elif is_image and matrix.kind in RAMPS:
        encode = pack_values
    roles: Sequence[str] = (theme.query, theme.key)
    if matrix.kind in ("lines", "bars"):  # each line its own, or two series
        roles = theme.lines if matrix.kind == "lines" else theme.series[:2]
    return {
        "id": panel.id,
        "name": matrix.name,
        "formula": panel.formula,
        **{name: getattr(panel, name) for name in PANEL_FIELDS},
        "rows": list(matrix.rows),
        "columns": list(matrix.columns),
        "row_axis": matrix.row_axis,
        "column_axis": matrix.column_axis,
        "row_tokens": matrix.has_tokens(matrix.row_axis),
        "column_tokens": matrix.has_tokens(matrix.column_axis),
        "values": encode(matrix.values),
        "blank": matrix.blank,
        "ringed": [list(indices) for indices in matrix.ringed_cells],
        "places": matrix.decimals,
        "frames": [encode(frame) for frame in frames],
        "kind": matrix.kind,
        "low": low,
        "high": high,
        "colour": theme.role(matrix.role),
        "roles": list(roles),
        "image": is_image,
        "sources": [_describe_source(s, panel, by_id) for s in panel.sources if s.panel in by_id],
        "pool": dict(panel.pool),
        "pooled_by": panel.pooled_by,
    }


def _describe_source(source: Source, picked: Panel, by_id: dict[str, Panel]) -> dict[str, Any]:
    other_axis = {"row": "column", "column": "row", None: None}
    row, column = source.row, source.column
    if picked.flipped:
        row, column = other_axis[row], other_axis[column]
    return _describe_place(by_id[source.panel], row, column)


def _describe_selection(picked: Cell | None, by_id: dict[str, Panel]) -> dict[str, Any] | None:
    if picked is None or picked.panel not in by_id:
        return None
    return _describe_place(by_id[picked.panel], picked.row, picked.column)


def _describe_place(panel: Panel, row: object, column: object) -> dict[str, Any]:
    """A place in a panel as it is drawn."""
    if panel.flipped:
        row, column = column, row
    return {"panel": panel.id, "row": row, "column": column}


def show_figure(
    figure: Figure, origin: str, key: str, table: Callable[[], "pd.DataFrame"] | None = None
) -> str:
    """`show_matrices` with badge and files; returns the panel whose name was clicked, or "".

    The table has the numbers of the matrices, where it is not another one.
    """
    figure, name = translate_figure(figure), f"picture {key}"
    opened = show_matrices(figure, read_theme(), name)
    offer_files(key, origin, table or partial(_make_table, figure), drawn=name)
    return opened


def _make_table(figure: Figure) -> "pd.DataFrame":
    """A row for each cell of the matrices."""
    import pandas as pd  # takes most of a second, and the first paint needs none

    return pd.DataFrame(
        [
            (matrix.name, i, j, matrix.rows[i], matrix.columns[j], value)
            for matrix in (panel.matrix for panel in figure.panels)
            for i, line in enumerate(matrix.values)
            for j, value in enumerate(line)
        ],
        columns=["matrix", "row", "column", "row_label", "column_label", "value"],
    )


MOST_EXPLAINED = 300
"""Numbers of a picture that a file explains one by one."""
OPENS_WITH = 2, 1
"""Row and column of the number that is looked at before there was a click."""


def _name_place(axis: str, label: str) -> str:
    """A place on an axis; "head 1" names its axis by itself."""
    named = _(axis)
    return label if label.startswith(f"{named} ") else f"{named} {label}".strip()


def _make_card(cell: Cell, panel: Panel, working: Arithmetic) -> dict[str, Any]:
    """What the picture shows beside the number that was clicked."""
    matrix = translate_matrix(panel.matrix)
    in_row = _name_place(matrix.row_axis, matrix.rows[cell.row])
    in_column = _name_place(matrix.column_axis, matrix.columns[cell.column])
    title = f"{matrix.name}: {in_row}, {in_column}"
    return {"title": title, "lines": working.lines, "snippet": working.snippet}


def _find_cell(clicked: Cell | None, opening: str, panels: Mapping[str, Panel]) -> Cell | None:
    """What was clicked, if it is still there: the sentence may be shorter, or the head smaller.

    Else, of the panel that `opening` names, the number that one sees first.
    """
    if clicked and clicked.panel in panels:
        rows, columns = panels[clicked.panel].matrix.shape
        if clicked.row < rows and clicked.column < columns:
            return clicked
    rows, columns = panels[opening].matrix.shape if opening in panels else (0, 0)
    row, column = OPENS_WITH
    is_empty = not rows or not columns
    return None if is_empty else Cell(opening, min(row, rows - 1), min(column, columns - 1))


def _explain_all(
    panels: Sequence[Panel], working: Callable[[Cell], Arithmetic]
) -> dict[str, list[list[dict[str, Any]]]]:
    """What a click on each number shows, by panel, as it is drawn; nothing of many numbers."""
    if sum(math.prod(panel.matrix.shape) for panel in panels) > MOST_EXPLAINED:
        return {}
    found = {}
    for panel in panels:
        rows, columns = map(range, panel.matrix.shape)
        cells = [[Cell(panel.id, row, column) for column in columns] for row in rows]
        drawn = zip(*cells, strict=True) if panel.flipped else cells
        found[panel.id] = [[_make_card(one, panel, working(one)) for one in line] for line in drawn]
    return found


def show_clickable_figure(
    panels: Sequence[Panel],
    working: Callable[[Cell], Arithmetic],
    origin: str,
    key: str,
    alt: str,
    slider: Slider | None = None,
    acts: Mapping[str, Callable[[Cell], None]] = MappingProxyType({}),
    stepper: str = "",
    view_slider: ViewSlider | None = None,
) -> str:
    """Draw linked matrices; returns the panel whose name was clicked, or "".

    A click on a number shows how it was computed, and nothing else.

    On a panel that `acts` names, a click does what stands there instead. The panel that `stepper`
    names is walked through number by number; a class sees it before the first number's arithmetic.
    The panels are the view of the `view_slider`, if there is one.
    """
    clicked_key = CLICKED.format(key)

    def pick(clicked: Cell) -> None:
        act = acts.get(clicked.panel)
        if act:
            act(clicked)
        st.session_state[clicked_key] = None if act else clicked

    clicked = st.session_state.get(clicked_key)

    def look(view: View) -> Figure:
        by_id = {panel.id: panel for panel in view.panels}
        cell = _find_cell(clicked, "" if is_lecture() else stepper, by_id)
        card = _make_card(cell, by_id[cell.panel], view.working(cell)) if cell else None
        return Figure(view.panels, alt, cell, working=card)

    views = view_slider.views if view_slider else {}
    chosen = view_slider.index if view_slider else None
    if is_whole_export():
        note("arithmetic", key, _explain_all(panels, working))
    figure = replace(
        look(View(panels, working)),
        on_pick=pick,
        stepper=stepper,
        slider=slider,
        view_slider=view_slider,
        views={place: look(view) for place, view in views.items() if place != chosen},
    )
    return show_figure(figure, origin, key)
