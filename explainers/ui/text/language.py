"""The visitor's language: chosen by a switch or a link, else the browser's, else English."""

import functools
from collections.abc import Callable
from typing import Any

import streamlit as st

from explainers.messages import N_
from explainers.translations import ENGLISH, TEXTS, get_language, set_language
from explainers.ui.controls.control import Control, comes_back, describe_options
from explainers.ui.session import LANGUAGE_SPOKEN, WAS_OTHER_LANGUAGE, visitor
from explainers.ui.turns import fragments

LANGUAGE = "lang"
_language_choice = Control(LANGUAGE, N_("Language"), ENGLISH)


LANGUAGE_SCRIPT = "document.documentElement.lang = '{}';"
"""What tells a browser the language; the content security policy has it for each language."""


def settle_language() -> None:
    """Find out the visitor's language before anything is said; it holds until the next run."""
    url_language = _language_choice.read_url()
    if url_language and (LANGUAGE not in st.session_state or comes_back()):
        if url_language in list_languages():
            st.session_state[LANGUAGE] = url_language
        else:
            visitor().notices[LANGUAGE] = url_language, find_browser_language()
    st.session_state[LANGUAGE_SPOKEN] = st.session_state.get(LANGUAGE) or find_browser_language()
    set_language(st.session_state[LANGUAGE_SPOKEN])


def fragment(part: Callable[..., Any], run_every: float | None = None) -> Callable[..., Any]:
    """Make a Streamlit fragment that knows the language when it runs again in a new thread."""

    @functools.wraps(part)
    def run_in_language(*arguments: Any, **keywords: Any) -> Any:
        set_language(st.session_state.get(LANGUAGE_SPOKEN, ENGLISH))
        with fragments.turn():
            return part(*arguments, **keywords)

    return st.fragment(run_in_language, run_every=run_every)


@functools.cache
def list_languages() -> dict[str, str]:
    """What each language calls itself, by its code; the first line of its file says it."""
    names = {ENGLISH: "English"}
    for path in sorted(TEXTS.glob("*.po")):
        with path.open(encoding="utf-8") as file:
            names[path.stem] = file.readline().strip("# \n")
    return names


def find_browser_language() -> str:
    """The language that the browser asks for, if there is one of that name."""
    code = (st.context.locale or ENGLISH).split("-")[0].lower()
    return code if code in list_languages() else ENGLISH


def offer_languages() -> None:
    """Draw the switch, and tell the browser the language, which screen readers ask for."""
    names, browser_language = list_languages(), find_browser_language()
    if len(names) == 1:
        return
    choice = st.segmented_control(
        _language_choice.label,
        list(names),
        default=browser_language,
        format_func=lambda code: names[code],
        key=LANGUAGE,
        required=True,
        label_visibility="collapsed",
    )
    _language_choice.tell_bad_link(choice, describe_options(list(names)))
    # Another language has a sentence of its own: a link to it is the same picture for everybody.
    is_english = choice == browser_language == ENGLISH
    if _language_choice.read_url() != (None if is_english else choice):
        _language_choice.write(choice, ENGLISH if is_english else "")
    if choice != ENGLISH or st.session_state.get(WAS_OTHER_LANGUAGE):
        st.session_state[WAS_OTHER_LANGUAGE] = True
        script = LANGUAGE_SCRIPT.format(get_language())
        st.html(f"<script>{script}</script>", unsafe_allow_javascript=True)
