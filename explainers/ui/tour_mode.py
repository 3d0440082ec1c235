"""Is this the 10-minute tour? A link says so, and every part of a page may ask."""

from dataclasses import dataclass

import streamlit as st

from explainers.messages import N_
from explainers.ui.controls.control import Control, find_among
from explainers.ui.controls.controls import register
from explainers.ui.session import VISIT


@dataclass(frozen=True)
class TourMode(Control):
    """Whether the reader takes the tour, as `tour=1` in a link."""

    def __call__(self, is_possible: bool) -> bool:
        """Read the link; in front of a class there is no tour."""
        if not is_possible:
            self.put(False)
        return bool(self.resolve(find_among((True, False)), N_("1 or nothing")))

    def turn(self, is_on: bool) -> None:
        """Begin or leave the tour; a callback.

        The page counts as opened anew, because the controls of the other parts come or go with it:
        a control takes up its value when its page is opened.
        """
        st.session_state[VISIT] = st.session_state.get(VISIT, 0) + 1
        self.put(is_on)


tour_mode = TourMode("tour", N_("10-minute tour"), False)
register(tour_mode)


def is_tour() -> bool:
    """Are only heroes drawn, one page after the other?"""
    return bool(st.session_state.get(tour_mode.key))
