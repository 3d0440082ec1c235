"""The text that all pages look at: typed, chosen among examples, or from a link."""

import streamlit as st

from explainers.toys.sentence import MAX_CHARACTERS, PRESETS, Sentence, read_sentence
from explainers.translations import _, language, translate
from explainers.ui.controls.base import URL
from explainers.ui.controls.controls import ALL, text
from explainers.ui.session import GUESS, KEPT_CHOICES, NOTICES, OUT_OF_RANGE, PRESET, SIZE


def choose_text() -> Sentence:
    """The text that all pages look at: typed, chosen or from a link."""
    asked = text.asked()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        typed = st.text_input(
            value=text.default, max_chars=MAX_CHARACTERS, key=text.key, bind=URL, **text.words
        )
        text.keep(typed)
        _offer_presets()
    notices = st.session_state.setdefault(NOTICES, {})
    if asked and len(asked) > MAX_CHARACTERS:
        notices[text.key] = (asked[: MAX_CHARACTERS + 1], typed)
    linked, cut = notices.get(text.key, (None, None))
    read = read_sentence(linked if linked and cut == typed else typed or "")
    for note in read.notes:
        st.info(_(note), icon=":material/info:")
    return read


def reset() -> None:
    """Every choice back to its default; a callback, so that it runs before the page does."""
    for control in ALL.values():
        default = control.default  # a list of the visitor's own, where Streamlit wants a list
        st.session_state[control.key] = list(default) if isinstance(default, tuple) else default
    for key in list(st.session_state):
        if str(key).startswith((GUESS, SIZE)):
            st.session_state[key] = None
    st.session_state[NOTICES] = {}
    st.session_state[KEPT_CHOICES] = {}
    st.session_state[OUT_OF_RANGE] = {}
    st.session_state[PRESET] = None


def _offer_presets() -> None:
    spoken = language()
    st.selectbox(
        _("Or an example"),
        list(PRESETS),
        index=None,
        format_func=lambda name: translate(name, spoken),
        key=PRESET,
        placeholder=_("Choose"),
        on_change=_take_preset,
        width=200,
    )


def _take_preset() -> None:
    chosen = st.session_state[PRESET]
    if chosen:
        st.session_state[text.key] = PRESETS[chosen]
        st.session_state[PRESET] = None  # so that the same one can be chosen again
