"""Which sentence is translated: typed, built of the corpus' words, or held out from training."""

import streamlit as st

from explainers.lessons.cross_attention.gold import build, examples, gold_of, slots
from explainers.lessons.cross_attention.view import View
from explainers.lessons.wording import told
from explainers.sentence import Sentence
from explainers.translation import kept
from explainers.translation.corpus import RUNNING
from explainers.translation.record import Translation
from explainers.translation.translator import Translator, check
from explainers.translation.vocabulary import SPECIAL, english, read, sentence_case
from explainers.ui import controls, cross_controls
from explainers.ui.cross_controls import BEAM, GREEDY
from explainers.ui.language import said, translated
from explainers.ui.plain import shortened, verbatim
from explainers.ui.prose import Prose

BEAMS = {GREEDY: 1, BEAM: 4}
_BUILT, _EXAMPLE = "built: {}", "held-out sentence"


def read_by() -> Translator | None:
    """The trained one; if its file is missing or broken, nothing, and the reader is told."""
    try:
        return kept.load()
    except kept.BrokenWeightsError as error:
        st.error(
            said(
                "The translator cannot be used: {problem}. All that needs it is left out; the rest "
                "of the app works.",
                problem=verbatim(told(error)),
            ),
            icon=":material/error:",
        )
    return None


@st.cache_data(show_spinner=False, max_entries=64)
def translation(words: tuple[str, ...], beams: int) -> Translation:
    """The same sentence is translated once, however often the page runs."""
    return kept.load().translate(words, beams)


def asked_words(text: Prose, sentence: Sentence) -> tuple[str, ...]:
    """The reader's words if the translator knows them all, else those of the running sentence."""
    words = read(sentence.text)
    try:
        check(words)
    except ValueError as error:
        known = len(english().tokens) - len(SPECIAL)
        with st.container(border=True):
            text("cannot", problem=verbatim(shortened(translated(error.args[0]), 300)), known=known)
        return RUNNING.source
    return words


def show_asked(text: Prose, sentence: Sentence, queries_down: bool) -> View | None:
    """The translation of the reader's sentence, or nothing if no syllable was written."""
    words = asked_words(text, sentence)
    offer_sentences()
    found = translation(words, BEAMS[cross_controls.search()])
    if not found.syllables:
        text("nothing_written")
        return None
    gold = gold_of(words)
    return View(found, gold if gold and gold.target == found.syllables else None, queries_down)


def offer_sentences() -> None:
    """Sentences that the translator can read: to be put together, or held out from training."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with (
            st.popover(said("Build a sentence"), icon=":material/construction:"),
            st.form("builder"),
        ):
            for (name, words), default in zip(slots().items(), _running(), strict=True):
                options = sorted(words)
                key = _BUILT.format(name)
                st.selectbox(translated(name), options, options.index(default), key=key)
            st.form_submit_button(said("Translate this"), on_click=_take_built)
        st.selectbox(
            said("Or one that training never saw"),
            list(examples()),
            index=None,
            key=_EXAMPLE,
            placeholder=said("Choose"),
            on_change=_take_example,
        )


def _running() -> tuple[str, ...]:
    _, who, did, kind, what, _, day = RUNNING.source
    return who, did, kind, what, day


def _take_built() -> None:
    pair = build(*(st.session_state[_BUILT.format(name)] for name in slots()))
    st.session_state[controls.text.key] = " ".join(sentence_case(pair.source))


def _take_example() -> None:
    chosen = st.session_state[_EXAMPLE]
    if chosen:
        st.session_state[controls.text.key] = " ".join(sentence_case(examples()[chosen].source))
        st.session_state[_EXAMPLE] = None  # so that the same one can be chosen again
