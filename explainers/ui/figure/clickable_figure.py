"""Pictures whose numbers can be clicked: each shows the arithmetic that made it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import streamlit as st

from explainers.arithmetic import Arithmetic
from explainers.translations import _
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
from explainers.ui.session import CLICKED

OPENS_WITH = 2, 1
"""Row and column of the number that is looked at before there was a click."""


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
    opening = stepper if not is_lecture() else ""

    def look(view: View) -> Figure:
        # The sentence may have become shorter, or the head smaller.
        is_there = clicked and _is_there(clicked, view.panels)
        cell = clicked if is_there else _open_with(opening, view.panels)
        card = make_card(cell, view.panels, view.working(cell)) if cell else None
        return Figure(view.panels, alt, cell, working=card)

    figure = replace(
        look(View(panels, working)),
        on_pick=pick,
        stepper=stepper,
        slider=slider,
        view_slider=view_slider,
    )
    return show_figure(_add_views(figure, look), origin, key)


def _add_views(figure: Figure, look: Callable[[View], Figure]) -> Figure:
    """The figure with what stands there at the other steps of its slider."""
    slider = figure.view_slider
    if not isinstance(slider, ViewSlider):
        return figure
    others = {place: look(view) for place, view in slider.views.items() if place != slider.index}
    return replace(figure, views=others)


def _open_with(name: str, panels: Sequence[Panel]) -> Cell | None:
    shape = _find_shape(name, panels)
    row, column = (min(place, size - 1) for place, size in zip(OPENS_WITH, shape, strict=True))
    return Cell(name, row, column) if all(shape) else None


def _is_there(cell: Cell, panels: Sequence[Panel]) -> bool:
    rows, columns = _find_shape(cell.panel, panels)
    return cell.row < rows and cell.column < columns


def _find_shape(name: str, panels: Sequence[Panel]) -> tuple[int, int]:
    return next((panel.matrix.shape for panel in panels if panel.id == name), (0, 0))
