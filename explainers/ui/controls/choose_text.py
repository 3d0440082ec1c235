"""The text that all pages look at: typed, chosen among examples, or from a link."""

from collections.abc import Callable

import streamlit as st

from explainers.toys.sentence import MAX_CHARACTERS, PRESETS, Sentence, read_sentence
from explainers.translations import _, get_language, translate
from explainers.ui.controls import controls
from explainers.ui.controls.control import URL_BINDING
from explainers.ui.session import NOTICES, PRESET
from explainers.ui.tour_mode import is_tour


def choose_text(offer_menus: Callable[[str], None] | None = None) -> Sentence:
    """Ask for the text, and say what of it was changed to fit.

    Where a page has menus that make a sentence, `offer_menus` shows them beside what is typed.
    """
    request = controls.sentence.read_request()
    if is_tour():
        _keep_sentence(request)
        return read_sentence(controls.sentence.default)
    with st.container(horizontal=True, vertical_alignment="bottom", key="sentence"):
        typed_text = st.text_input(
            value=controls.sentence.default,
            max_chars=MAX_CHARACTERS,
            key=controls.sentence.key,
            bind=URL_BINDING,
            label_visibility="collapsed",
            **controls.sentence.label_and_help,
        )
        controls.sentence.keep(typed_text)
        _offer_presets()
        if offer_menus:
            offer_menus(typed_text or "")
    notices = st.session_state.setdefault(NOTICES, {})
    if request and len(request) > MAX_CHARACTERS:
        notices[controls.sentence.key] = (request[: MAX_CHARACTERS + 1], typed_text)
    url_text, cut_text = notices.get(controls.sentence.key, (None, None))
    sentence = read_sentence(url_text if url_text and cut_text == typed_text else typed_text or "")
    for note in sentence.notes:
        st.info(_(note), icon=":material/info:")
    return sentence


def _keep_sentence(request: str | None) -> None:
    """All stops of the tour show the same sentence; the reader's own comes back after it."""
    own = st.session_state.get(controls.sentence.key, request)
    if own is not None:
        controls.sentence.keep(own[:MAX_CHARACTERS])


def _offer_presets() -> None:
    visitor_language = get_language()
    st.selectbox(
        _("Or an example"),
        list(PRESETS),
        index=None,
        format_func=lambda name: translate(name, visitor_language),
        key=PRESET,
        placeholder=_("Or an example"),
        label_visibility="collapsed",
        on_change=_take_preset,
        width=170,
    )


def _take_preset() -> None:
    preset = st.session_state[PRESET]
    if preset:
        st.session_state[controls.sentence.key] = PRESETS[preset]
        st.session_state[PRESET] = None  # so that the same one can be chosen again
