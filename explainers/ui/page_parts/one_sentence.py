"""The page in one sentence, in a tinted box."""

import streamlit as st

from explainers.ui.page import Prose

SECTION = "one_sentence"


def show_one_sentence(text: Prose, **numbers: object) -> None:
    """Show the page's text `one_sentence`: what to remember, in at most 30 words."""
    with st.container(key="one sentence"):
        text(SECTION, **numbers)
