"""What stands around every page: its title, and the switches that mean the same everywhere."""

import streamlit as st

from explainers.ui import controls


def frame(title: str) -> None:
    """Draw the title before the page computes anything, and the common switches."""
    st.title(title)
    with st.sidebar:
        st.subheader("On every page")
        controls.predict_first()
        controls.queries()
        controls.seed()
        st.button("Reset all choices", on_click=controls.reset, icon=":material/restart_alt:")


def queries_down() -> bool:
    """Has the reader left the queries down the side?"""
    return st.session_state.get(controls.queries.key, "down") == "down"


def seed() -> int:
    """The seed of everything random, chosen in the sidebar."""
    return st.session_state.get(controls.seed.key, controls.seed.default)


def open_page(path: str) -> None:
    """Go to another page with all choices, if a link to one was clicked."""
    if path:
        st.switch_page(path, query_params={})  # without {} it refuses to leave bound choices
