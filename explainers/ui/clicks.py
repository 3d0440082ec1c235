"""Arithmetic beside a clicked number, for every picture of a page after its first.

The fields below a picture and the place in the URL belong to the one that `numbers.explore` draws;
what is clicked here is forgotten with the visit.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import streamlit as st

from explainers.ui.figure import show_figure
from explainers.ui.numbers import card_of
from explainers.ui.panels import Cell, Figure, Panel, Slider
from explainers.working import Working


def show_clickable(
    panels: Sequence[Panel],
    working: Callable[[Cell], Working],
    origin: str,
    key: str,
    alt: str,
    slider: Slider | None = None,
    acts: Mapping[str, Callable[[Cell], None]] = MappingProxyType({}),
    stepper: str = "",
) -> Cell | None:
    """Draw linked matrices; a click on a number shows how it was computed, and nothing else.

    On a panel that `acts` names, a click does what stands there instead. Returns what was clicked.
    """
    kept = f"clicked in {key}"

    def pick(clicked: Cell) -> None:
        act = acts.get(clicked.panel)
        if act:
            act(clicked)
        st.session_state[kept] = None if act else clicked

    cell = st.session_state.get(kept)
    if cell and not _is_there(cell, panels):  # the sentence has become shorter
        cell = None
    card = card_of(cell, panels, working(cell)) if cell else None
    show_figure(Figure(panels, alt, cell, pick, stepper, slider, working=card), origin, key)
    return cell


def _is_there(cell: Cell, panels: Sequence[Panel]) -> bool:
    shape = next((p.matrix.shape for p in panels if p.id == cell.panel), (0, 0))
    return cell.row < shape[0] and cell.column < shape[1]
