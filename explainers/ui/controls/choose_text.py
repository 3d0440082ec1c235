"""The text that all pages look at: typed, chosen among examples, or from a link."""

from collections.abc import Mapping

import streamlit as st

from explainers.toys.sentence import (
    ENGLISH_NAME,
    MAX_CHARACTERS,
    MAX_TOKENS,
    PRESETS,
    RUNNING_NAME,
    SENTENCE,
    Sentence,
    read_sentence,
)
from explainers.translations import _, get_language, translate
from explainers.ui.controls import controls
from explainers.ui.controls.controls import is_tour
from explainers.ui.session import PRESET, USUAL_SENTENCE, visitor


def choose_text(
    is_english: bool = False,
    examples: Mapping[str, str] | None = None,
    most_words: int | None = MAX_TOKENS,
) -> Sentence:
    """Ask for the text, and say what of it was changed to fit.

    A page whose model reads English has the English sentence in any language. One whose model knows
    few words offers `examples` of these, by their names, in the place of any text. One whose model
    cuts the text itself takes all words.
    """
    control, usual = controls.sentence, SENTENCE if is_english else controls.sentence.unchosen
    _visit, own = visitor().kept.get(control.key, (0, None))
    if is_tour():  # all stops show the same sentence; the reader's own comes back after it
        own = st.session_state.get(control.key, control.read_url())
        if own is not None:
            control.keep(own[:MAX_CHARACTERS])
        return read_sentence(usual)
    before = st.session_state.get(USUAL_SENTENCE)
    st.session_state[USUAL_SENTENCE] = usual

    def fit(text: str) -> str:
        """Who has chosen no text gets the usual one in another language, too."""
        return usual if text == before and own is None else text

    with st.container(horizontal=True, vertical_alignment="bottom", key="sentence"):
        text: str = control.resolve(
            lambda asked: asked[:MAX_CHARACTERS],
            "",
            usual,
            fit,
            st.text_input,
            max_chars=MAX_CHARACTERS,
            label_visibility="collapsed",
        )
        # On a page in English, the English sentence may be the reader's choice or nobody's.
        is_own = text != usual or (is_english and own is not None)
        control.keep(text if is_own else None)
        if examples is None:
            examples = {**PRESETS, RUNNING_NAME: usual}
            if usual == SENTENCE:
                del examples[ENGLISH_NAME]
        _offer_presets(examples)
    asked, _shown = visitor().notices.get(control.key, ("", None))
    raw = asked if asked[:MAX_CHARACTERS] == text else text
    sentence = read_sentence(raw, most_words, usual)
    for note in sentence.notes:
        st.info(_(note), icon=":material/info:")
    return sentence


def _offer_presets(presets: Mapping[str, str]) -> None:
    visitor_language = get_language()

    def take() -> None:
        preset = st.session_state[PRESET]
        if preset in presets:
            st.session_state[controls.sentence.key] = presets[preset]
            st.session_state[PRESET] = None  # so that the same one can be chosen again

    st.selectbox(
        _("Or an example"),
        list(presets),
        index=None,
        format_func=lambda name: translate(name, visitor_language),
        key=PRESET,
        placeholder=_("Or an example"),
        label_visibility="collapsed",
        on_change=take,
        width=170,
    )
