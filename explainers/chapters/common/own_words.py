"""A reader's own sentence, where the head has not learned all of its words."""

import functools
from collections import Counter

import streamlit as st

from explainers.toys.examples import make_generator
from explainers.toys.grammar import GRAMMARS, find_language, fold_word
from explainers.toys.layers import Tokens
from explainers.toys.task import draw_news
from explainers.translations import _, get_language
from explainers.ui.controls import controls
from explainers.ui.page import open_page
from explainers.ui.untrusted_text import verbatim

INSPECTOR = "pages/13_inspector.py"
NUM_SENTENCES = 2_000
"""Of the sentences that the head can read, so many are compared with the reader's."""


def list_unknown_words(tokens: Tokens) -> str:
    """The words that training never saw, as a remark lists them; "" if it saw all."""
    known = GRAMMARS[find_language(tokens)].word_ids
    unknown = dict.fromkeys(token for token in tokens if fold_word(token) not in known)
    return ", ".join(map(verbatim, unknown))


def offer_known_words(tokens: Tokens) -> None:
    """Two ways on: the nearest sentence of known words, or a model that knows all words."""
    nearest = find_nearest_sentence(tokens)
    with st.container(horizontal=True):
        swap = _("Swap the words: “{sentence}”", sentence=nearest)
        st.button(swap, on_click=_take_sentence, args=(nearest,), icon=":material/swap_horiz:")
        if st.button(_("Use a real model"), icon=":material/psychology:"):
            open_page(INSPECTOR, step="")


def offer_ways_on(tokens: Tokens) -> None:
    """The same, and a third way, where a page shows what holds for any weights."""
    offer_known_words(tokens)
    label = _("Use untrained weights")
    st.button(label, on_click=controls.weights.put, args=("untrained",), icon=":material/casino:")


def find_nearest_sentence(tokens: Tokens) -> str:
    """The sentence of known words that shares most with this one: its words, then its length.

    Where no word is known, it is one in the visitor's language.
    """
    language = find_language(tokens, get_language())
    wanted = Counter(map(fold_word, tokens))

    def measure_likeness(news: Tokens) -> tuple[int, int]:
        common = wanted & Counter(map(fold_word, news))
        return common.total(), -abs(len(news) - len(tokens))

    nearest: Tokens = max(list_known_sentences(language), key=measure_likeness)
    return " ".join(nearest)


@functools.cache
def list_known_sentences(language: str) -> tuple[Tokens, ...]:
    """Sentences of the task, of which the nearest is offered."""
    seeded = make_generator("sentences of known words")
    return tuple(news.tokens for news in draw_news(language, NUM_SENTENCES, True, seeded))


def _take_sentence(sentence: str) -> None:
    st.session_state[controls.sentence.key] = sentence
