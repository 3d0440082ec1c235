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
from explainers.ui.session import KEPT_CHOICES, NOTICES, PRESET, USUAL_SENTENCE
from explainers.ui.tour_mode import is_tour


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
    is_own = _is_own()
    control.take_up()
    if is_tour():  # all stops show the same sentence; the reader's own comes back after it
        own = st.session_state.get(control.key, control.read_url())
        if own is not None:
            control.keep(own[:MAX_CHARACTERS])
        return read_sentence(usual)
    request, text = control.read_link(lambda asked: asked[:MAX_CHARACTERS], usual)
    # Who has chosen no text gets the usual one in another language, too.
    was_usual = text == st.session_state.get(USUAL_SENTENCE) and not is_own
    st.session_state[USUAL_SENTENCE] = usual
    with st.container(horizontal=True, vertical_alignment="bottom", key="sentence"):
        typed_text: str = control.draw(
            st.text_input,
            usual if text is None or was_usual else text,
            max_chars=MAX_CHARACTERS,
            label_visibility="collapsed",
        )
        control.write(typed_text, usual)
        # On a page in English, the English sentence may be the reader's choice or nobody's.
        is_own = typed_text != usual or (is_english and is_own)
        controls.sentence.keep(typed_text if is_own else None)
        if examples is None:
            examples = {**PRESETS, RUNNING_NAME: usual}
            if usual == SENTENCE:
                del examples[ENGLISH_NAME]
        _offer_presets(examples)
    notices = st.session_state.setdefault(NOTICES, {})
    if request and len(request) > MAX_CHARACTERS:
        notices[controls.sentence.key] = (request[: MAX_CHARACTERS + 1], typed_text)
    url_text, cut_text = notices.get(controls.sentence.key, (None, None))
    raw = url_text if url_text and cut_text == typed_text else typed_text
    sentence = read_sentence(raw, most_words, usual)
    for note in sentence.notes:
        st.info(_(note), icon=":material/info:")
    return sentence


def _is_own() -> bool:
    """Has the reader chosen a sentence, here or on the page before?"""
    _visit, sentence = st.session_state.get(KEPT_CHOICES, {}).get(controls.sentence.key, (0, None))
    return sentence is not None


def _offer_presets(presets: Mapping[str, str]) -> None:
    visitor_language = get_language()
    st.selectbox(
        _("Or an example"),
        list(presets),
        index=None,
        format_func=lambda name: translate(name, visitor_language),
        key=PRESET,
        placeholder=_("Or an example"),
        label_visibility="collapsed",
        on_change=_take_preset,
        args=(presets,),
        width=170,
    )


def _take_preset(presets: Mapping[str, str]) -> None:
    preset = st.session_state[PRESET]
    if preset in presets:
        st.session_state[controls.sentence.key] = presets[preset]
        st.session_state[PRESET] = None  # so that the same one can be chosen again
