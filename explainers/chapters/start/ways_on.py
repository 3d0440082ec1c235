"""Two other ways through the app, from the start page: a tour and a lecture."""

import streamlit as st

from explainers.translations import _
from explainers.ui.controls.controls import lecture_mode, reset_choices
from explainers.ui.tour_mode import tour_mode


def offer_ways_on() -> None:
    """A button for each."""
    with st.container(horizontal=True, key="ways on"):
        st.button(_("10-minute tour"), on_click=_begin_tour, icon=":material/tour:")
        st.button(_("Lecture mode"), on_click=_begin_lecture, icon=":material/co_present:")


def _begin_tour() -> None:
    reset_choices()  # every stop begins with the picture that its text is about
    tour_mode.turn(True)
    st.rerun()  # the whole page, of which the buttons are a part


def _begin_lecture() -> None:
    lecture_mode.put(True)
    st.rerun()
