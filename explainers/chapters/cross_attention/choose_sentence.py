"""Which sentence is translated: typed, built of the corpus' words, or held out, with its gold."""

import functools

import streamlit as st

from explainers.chapters.cross_attention.alignment_view import View
from explainers.messages import N_
from explainers.toys.sentence import Sentence
from explainers.translation import weights_file
from explainers.translation.corpus import RUNNING_PAIR, SentencePair, align_phrase, draw_test_sets
from explainers.translation.phrases import (
    join_phrases,
    mark_past,
    translate_word,
    write_function_word,
)
from explainers.translation.translator import Translation, Translator, check_words
from explainers.translation.vocabulary import (
    MISSING_FORM,
    SPECIAL_TOKENS,
    Entry,
    capitalise_sentence,
    english_vocabulary,
    find_words,
    list_modifiers,
    read_lexicon,
)
from explainers.translations import _, translate_error
from explainers.ui.controls import controls
from explainers.ui.controls.controls import BEAM, GREEDY
from explainers.ui.page import Prose
from explainers.ui.session import BUILT_WORD, HELD_OUT_SENTENCE
from explainers.ui.untrusted_text import shorten, verbatim

NUM_EXAMPLES = 6
"""Of each kind of held-out sentence: with a pair of words that never met in training, or none."""
SLOT_POSITIONS = (1, 2, 3, 4, 6)
"""Where the chosen words stand in "the CEO announced record earnings on Friday"."""


@functools.cache
def list_held_out_examples() -> dict[str, SentencePair]:
    """Held-out sentences by their text."""
    pairs = [pair for kind in draw_test_sets(NUM_EXAMPLES) for pair in kind]
    return {" ".join(pair.source): pair for pair in pairs}


@functools.cache
def list_slots() -> dict[str, dict[str, Entry]]:
    """What a sentence is built of: for each place, the words that may stand there."""
    lists = read_lexicon()
    persons = (*lists["people"], *lists["organisations"])
    return {
        N_("Who"): {entry.forms[0]: entry for entry in persons},
        N_("did"): {entry.forms[1]: entry for entry in lists["verbs of news"]},
        N_("what kind of"): {entry.name: entry for entry in list_modifiers("news")},
        N_("what"): {_read_plural(entry): entry for entry in lists["news"]},
        N_("on"): {entry.name: entry for entry in lists["days"]},
    }


def build_sentence(who: str, did: str, kind: str, what: str, day: str) -> SentencePair:
    """The sentence in both languages; raises KeyError for a word that may not stand there."""
    chosen_words = list(zip((who, did, kind, what, day), list_slots().values(), strict=True))
    parts = [translate_word(word, words[word].vietnamese) for word, words in chosen_words]
    subject, verb, modifier, noun, friday = parts
    subject_name, verb_name, modifier_name, noun_name, _unused = (
        words[word].name for word, words in chosen_words
    )
    [before] = [entry for entry in read_lexicon()["before a day"] if entry.name == "on"]
    on = translate_word("on", before.vietnamese)
    english = [write_function_word("the"), subject, verb, modifier, noun, on, friday]
    phrase = join_phrases(english, [subject, mark_past(verb), verb, noun, modifier, on, friday])
    return align_phrase(
        phrase._replace(pairs=frozenset({(subject_name, verb_name), (modifier_name, noun_name)}))
    )


def find_gold(words: tuple[str, ...]) -> SentencePair | None:
    """The sentence with its gold, if it is one of those that are known."""
    known = list_held_out_examples().get(" ".join(words))
    if known or words == RUNNING_PAIR.source:
        return known or RUNNING_PAIR
    try:
        pair = build_sentence(*(words[position] for position in SLOT_POSITIONS))
    except (KeyError, IndexError):
        return None
    return pair if pair.source == words else None


def _read_plural(entry: Entry) -> str:
    return entry.name if entry.forms[1] == MISSING_FORM else entry.forms[1]


BEAMS = {GREEDY: 1, BEAM: 4}


def load_translator_or_warn() -> Translator | None:
    """The trained translator, or a message to the reader if its file is missing or broken."""
    try:
        return weights_file.load_translator()
    except weights_file.BrokenWeightsError as error:
        st.error(
            _(
                "The translator cannot be used: {problem}. All that needs it is left out; the rest "
                "of the app works.",
                problem=verbatim(translate_error(error)),
            ),
            icon=":material/error:",
        )
    return None


@st.cache_resource(show_spinner=False, max_entries=64)
def translate_once(words: tuple[str, ...], beams: int) -> Translation:
    """The same sentence is translated once, however often the page runs."""
    return weights_file.load_translator().translate(words, beams)


def read_words(text: Prose, sentence: Sentence) -> tuple[str, ...]:
    """The reader's words if the translator knows them all, else those of the running sentence."""
    words = find_words(sentence.text)
    try:
        check_words(words)
    except ValueError as error:
        known = len(english_vocabulary().tokens) - len(SPECIAL_TOKENS)
        with st.container(border=True):
            text("cannot", problem=verbatim(shorten(_(error.args[0]), 300)), known=known)
        return RUNNING_PAIR.source
    return words


def choose_translation(text: Prose, sentence: Sentence, queries_down: bool) -> View | None:
    """The translation of the reader's sentence, or nothing if no syllable was written."""
    words = read_words(text, sentence)
    offer_sentences()
    translation = translate_once(words, BEAMS[controls.search_method()])
    if not translation.syllables:
        text("nothing_written")
        return None
    gold = find_gold(words)
    return View(
        translation, gold if gold and gold.target == translation.syllables else None, queries_down
    )


def offer_sentences() -> None:
    """Sentences that the translator can read: to be put together, or held out from training."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.popover(_("Build a sentence"), icon=":material/construction:"), st.form("builder"):
            for (name, words), default in zip(
                list_slots().items(), _list_default_words(), strict=True
            ):
                options = sorted(words)
                key = BUILT_WORD.format(name)
                st.selectbox(_(name), options, options.index(default), key=key)
            st.form_submit_button(_("Translate this"), on_click=_use_built_sentence)
        st.selectbox(
            _("Or one that training never saw"),
            list(list_held_out_examples()),
            index=None,
            key=HELD_OUT_SENTENCE,
            placeholder=_("Choose"),
            on_change=_use_held_out_example,
        )


def _list_default_words() -> tuple[str, ...]:
    _unused, who, did, kind, what, _unused, day = RUNNING_PAIR.source
    return who, did, kind, what, day


def _use_built_sentence() -> None:
    pair = build_sentence(*(st.session_state[BUILT_WORD.format(name)] for name in list_slots()))
    st.session_state[controls.sentence.key] = " ".join(capitalise_sentence(pair.source))


def _use_held_out_example() -> None:
    example = st.session_state[HELD_OUT_SENTENCE]
    if example:
        st.session_state[controls.sentence.key] = " ".join(
            capitalise_sentence(list_held_out_examples()[example].source)
        )
        st.session_state[HELD_OUT_SENTENCE] = None  # so that the same one can be chosen again
