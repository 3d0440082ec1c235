"""Example sentences, to choose instead of typing one."""

from functools import partial

import streamlit as st

from explainers.toys.sentence import PRESETS
from explainers.ui.text.language import in_language, language, said

CHOSEN = "preset"


def offer_presets(key: str) -> None:
    """A list of them; the chosen one becomes the text with this key."""
    st.selectbox(
        said("Or an example"),
        list(PRESETS),
        index=None,
        format_func=partial(in_language, language()),
        key=CHOSEN,
        placeholder=said("Choose"),
        on_change=_take,
        args=(key,),
        width=200,
    )


def _take(key: str) -> None:
    chosen = st.session_state[CHOSEN]
    if chosen:
        st.session_state[key] = PRESETS[chosen]
        st.session_state[CHOSEN] = None  # so that the same one can be chosen again
