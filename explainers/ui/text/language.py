"""The visitor's language: chosen by a switch or a link, else the browser's, else English."""

import functools
from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from explainers.messages import N_
from explainers.translations import ENGLISH, TEXTS, language, speak
from explainers.ui.controls.control import Control, describe_options
from explainers.ui.session import LANGUAGE_SPOKEN, NOTICES, WAS_OTHER_LANGUAGE

LANGUAGE = "lang"

"""Kept in the session's state, where fragments find it."""
# Streamlit would write into the URL what a language calls itself.
_language_choice = Control(LANGUAGE, N_("Language"), ENGLISH)


def settle_language() -> None:
    """Find out the visitor's language before anything is said; it holds until the next run."""
    context, linked = get_script_run_ctx(), _language_choice.read_url()
    is_back = context is not None and context.is_history_navigation
    if linked and (LANGUAGE not in st.session_state or is_back):
        if linked in list_languages():
            st.session_state[LANGUAGE] = linked
        else:
            st.session_state.setdefault(NOTICES, {})[LANGUAGE] = linked, find_browser_language()
    st.session_state[LANGUAGE_SPOKEN] = st.session_state.get(LANGUAGE) or find_browser_language()
    speak(st.session_state[LANGUAGE_SPOKEN])


def fragment(part: Callable[..., Any], run_every: float | None = None) -> Callable[..., Any]:
    """Streamlit's fragment, which may run again in a new thread: it has to learn the language."""

    @functools.wraps(part)
    def spoken(*given: Any, **named: Any) -> Any:
        speak(st.session_state.get(LANGUAGE_SPOKEN, ENGLISH))
        return part(*given, **named)

    return st.fragment(spoken, run_every=run_every)


@functools.cache
def list_languages() -> dict[str, str]:
    """What each language calls itself, by its code; the first line of its file says it."""
    found = {ENGLISH: "English"}
    for path in sorted(TEXTS.glob("*.po")):
        with path.open(encoding="utf-8") as file:
            found[path.stem] = file.readline().strip("# \n")
    return found


def find_browser_language() -> str:
    """The language that the browser asks for, if there is one of that name."""
    asked = (st.context.locale or ENGLISH).split("-")[0].lower()
    return asked if asked in list_languages() else ENGLISH


def offer_languages() -> None:
    """The switch, and what the browser is told: readers aloud ask it for the language."""
    offered, own = list_languages(), find_browser_language()
    if len(offered) == 1:
        return
    chosen = st.segmented_control(
        _language_choice.label,
        list(offered),
        default=own,
        format_func=lambda code: offered[code],
        key=LANGUAGE,
        required=True,
        label_visibility="collapsed",
    )
    _language_choice.report_bad_link(None, chosen, describe_options(list(offered)))
    if _language_choice.read_url() != (None if chosen == own else chosen):
        _language_choice.write(chosen, own)
    if chosen != ENGLISH or st.session_state.get(WAS_OTHER_LANGUAGE):
        st.session_state[WAS_OTHER_LANGUAGE] = True
        script = f"<script>document.documentElement.lang = '{language()}';</script>"
        st.html(script, unsafe_allow_javascript=True)
