"""Pictures whose numbers can be clicked: each shows the arithmetic that made it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import streamlit as st

from explainers.arithmetic import Arithmetic
from explainers.translations import _, say_arithmetic
from explainers.ui.controls import controls
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import (
    Cell,
    Figure,
    Panel,
    Slider,
    View,
    ViewSlider,
    translate_matrix,
)
from explainers.ui.lecture.screens import is_lecture
from explainers.ui.session import CLICKED, STEPPER_SEEN

MOST_LINES = 12
"""More lines of arithmetic than this scroll in a box of their own."""


class Exploration(NamedTuple):
    """The panel whose name was clicked, or "", and the number that is looked at."""

    opened_panel: str
    cell: Cell


class Click(NamedTuple):
    """The panel whose name was clicked, or "", and the number that was clicked, if one was."""

    opened_panel: str
    cell: Cell | None


def explore_figure(
    panels: Sequence[Panel],
    working: Callable[[Cell], Arithmetic],
    origin: str,
    key: str,
    alt: str,
    stepper: str = "",
    slider: Slider | None = None,
    first: str = "",
    view_slider: ViewSlider | None = None,
) -> Exploration:
    """Draw linked matrices; a click on a number, or the fields below, show how it was computed.

    `first` names the panel that is looked at before there was a click. The panels are the view of
    the `view_slider`, if there is one.
    """

    def pick(clicked: Cell) -> None:
        st.session_state[CLICKED.format(key)] = True
        _pick(clicked)

    picture = st.container()
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.markdown(
                _("**Click a number** in the picture, or choose it here, to see its arithmetic."),
                width=300,
            )
            cell = _choose_cell(panels, stepper, first, key)
        arithmetic = working(cell)
        _show_arithmetic(_make_title(cell, panels), arithmetic, key)
    with picture:
        is_wanted = not is_lecture() or st.session_state.get(CLICKED.format(key))
        card = (
            make_card(cell, panels, arithmetic) if is_wanted else None
        )  # a class sees the picture first
        figure = Figure(panels, alt, cell, pick, stepper, slider, card, view_slider)

        def look(view: View) -> Figure:
            picked = _find_cell(cell.panel, view.panels)
            working = make_card(picked, view.panels, view.working(picked)) if is_wanted else None
            return Figure(view.panels, alt, picked, working=working)

        opened_panel = show_figure(_add_views(figure, look), origin, key)
    return Exploration(opened_panel, cell)


def _choose_cell(panels: Sequence[Panel], stepper: str, first: str, key: str) -> Cell:
    names, seen_key = [panel.id for panel in panels], STEPPER_SEEN.format(key)
    if (
        stepper
        and stepper != st.session_state.get(seen_key)
        and controls.matrix.read_request() is None
    ):
        st.session_state[controls.matrix.key] = stepper  # another step: look at what it makes
    st.session_state[seen_key] = stepper
    name = controls.matrix(names, stepper or first or names[-1])
    rows, columns = panels[names.index(name)].matrix.shape
    return Cell(name, controls.row(0, rows - 1), controls.column(0, columns - 1))


def _find_cell(name: str, panels: Sequence[Panel]) -> Cell:
    """What will be looked at in these panels, where there may be less room, or more."""
    panel = next((one for one in panels if one.id == name), panels[-1])
    rows, columns = panel.matrix.shape
    row, column = (
        controls.row.find_nearest(0, rows - 1),
        controls.column.find_nearest(0, columns - 1),
    )
    return Cell(panel.id, row, column)


def _pick(cell: Cell) -> None:
    st.session_state[controls.matrix.key] = cell.panel
    controls.row.put(cell.row)
    controls.column.put(cell.column)


def _make_title(cell: Cell, panels: Sequence[Panel]) -> str:
    matrix = translate_matrix(next(panel.matrix for panel in panels if panel.id == cell.panel))
    row, column = matrix.rows[cell.row], matrix.columns[cell.column]
    in_row, in_column = _name_place(matrix.row_axis, row), _name_place(matrix.column_axis, column)
    return f"{matrix.name}: {in_row}, {in_column}"


def _name_place(axis: str, label: str) -> str:
    """A place on an axis; "head 1" names its axis by itself."""
    named = _(axis)
    return label if label.startswith(f"{named} ") else f"{named} {label}".strip()


def make_card(cell: Cell, panels: Sequence[Panel], working: Arithmetic) -> dict[str, Any]:
    """What the picture shows beside the number that was clicked."""
    title = _make_title(cell, panels)
    return {"title": title, "lines": working.lines, "snippet": working.snippet}


def _show_arithmetic(title: str, working: Arithmetic, key: str) -> None:
    """The picture shows it beside a number that is clicked; here it can be read without one."""
    label = _("The arithmetic, to read and to copy")
    box = st.expander(label, key=f"arithmetic {key}", on_change="rerun")
    if not box.open:
        return
    with box:
        st.text(title)
        left, right = st.columns(2)
        height: int | Literal["content"] = 320 if len(working.lines) > MOST_LINES else "content"
        lines = "\n".join(say_arithmetic(line) for line in working.lines)
        left.code(lines, language=None, height=height)
        right.code(working.snippet, language="python", wrap_lines=True, height=height)


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
) -> Click:
    """Draw linked matrices; a click on a number shows how it was computed, and nothing else.

    On a panel that `acts` names, a click does what stands there instead.
    """
    clicked_key = CLICKED.format(key)

    def pick(clicked: Cell) -> None:
        act = acts.get(clicked.panel)
        if act:
            act(clicked)
        st.session_state[clicked_key] = None if act else clicked

    clicked = st.session_state.get(clicked_key)

    def look(view: View) -> Figure:
        # The sentence may have become shorter, or the head smaller.
        cell = clicked if clicked and _is_there(clicked, view.panels) else None
        card = make_card(cell, view.panels, view.working(cell)) if cell else None
        return Figure(view.panels, alt, cell, working=card)

    figure = replace(
        look(View(panels, working)),
        on_pick=pick,
        stepper=stepper,
        slider=slider,
        view_slider=view_slider,
    )
    return Click(show_figure(_add_views(figure, look), origin, key), figure.picked)


def _add_views(figure: Figure, look: Callable[[View], Figure]) -> Figure:
    """The figure with what stands there at the other steps of its slider."""
    slider = figure.view_slider
    if not isinstance(slider, ViewSlider):
        return figure
    others = {place: look(view) for place, view in slider.views.items() if place != slider.index}
    return replace(figure, views=others)


def _is_there(cell: Cell, panels: Sequence[Panel]) -> bool:
    shape = next((p.matrix.shape for p in panels if p.id == cell.panel), (0, 0))
    return cell.row < shape[0] and cell.column < shape[1]
