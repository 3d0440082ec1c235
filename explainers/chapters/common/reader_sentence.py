"""The reader's own sentence, and the nearest one of words that the trained heads know."""

import functools
from collections import Counter

import streamlit as st

from explainers.toys.examples import make_generator
from explainers.toys.grammar import find_language, fold_word
from explainers.toys.layers import Tokens
from explainers.toys.sentence import Sentence, list_known_examples
from explainers.toys.task import draw_news
from explainers.translations import _, get_language
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.controls.control import Control

NUM_SENTENCES = 2_000
"""Of the sentences that the head can read, so many are compared with the reader's."""


def choose_sentence() -> Sentence:
    """Ask for the reader's sentence: typed, or chosen among those that the trained heads know."""
    return choose_text(examples=list_known_examples(get_language()))


def offer_nearest_sentence(tokens: Tokens) -> None:
    """The nearest sentence of known words."""
    nearest = find_nearest_sentence(tokens)
    swap = _("Swap the words: “{sentence}”", sentence=nearest)
    offer_choice(swap, ":material/swap_horiz:", controls.sentence, nearest)


def offer_choice(label: str, icon: str, control: Control, value: object) -> None:
    """A button that chooses, for the whole page, also where it stands in a part that runs alone."""
    if st.button(label, icon=icon, on_click=control.put, args=(value,)):
        st.rerun()


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
