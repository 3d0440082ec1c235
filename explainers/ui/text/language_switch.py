"""The switch of languages: first in the sidebar, each language under its own name."""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from explainers.ui.controls.links import NOTICES, one_of
from explainers.ui.controls.live import Unbound
from explainers.ui.text.language import ENGLISH, LANGUAGE, SPOKEN, language, languages

# Streamlit would write into the URL what a language calls itself.
_switch = Unbound(LANGUAGE, "Language", ENGLISH)
_WAS_OTHER = "another language was spoken"


def settle() -> None:
    """Find out the visitor's language before anything is said; it holds until the next run."""
    context, linked = get_script_run_ctx(), _switch.linked()
    is_back = context is not None and context.is_history_navigation
    if linked and (LANGUAGE not in st.session_state or is_back):
        if linked in languages():
            st.session_state[LANGUAGE] = linked
        else:
            st.session_state.setdefault(NOTICES, {})[LANGUAGE] = linked, of_browser()
    st.session_state[SPOKEN] = st.session_state.get(LANGUAGE) or of_browser()


def of_browser() -> str:
    """The language that the browser asks for, if there is one of that name."""
    asked = (st.context.locale or ENGLISH).split("-")[0].lower()
    return asked if asked in languages() else ENGLISH


def offer_languages() -> None:
    """The switch, and what the browser is told: readers aloud ask it for the language."""
    offered, own = languages(), of_browser()
    if len(offered) == 1:
        return
    chosen = st.segmented_control(
        _switch.label,
        list(offered),
        default=own,
        format_func=lambda code: offered[code],
        key=LANGUAGE,
        required=True,
        label_visibility="collapsed",
    )
    _switch.told(None, chosen, one_of(list(offered)))
    if _switch.linked() != (None if chosen == own else chosen):
        _switch.write(chosen, own)
    if chosen != ENGLISH or st.session_state.get(_WAS_OTHER):
        st.session_state[_WAS_OTHER] = True
        script = f"<script>document.documentElement.lang = '{language()}';</script>"
        st.html(script, unsafe_allow_javascript=True)
