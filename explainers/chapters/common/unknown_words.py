"""What a page does where a reader's sentence has words that no trained head knows."""

import functools
from collections import Counter

import streamlit as st

from explainers.toys.examples import make_generator
from explainers.toys.grammar import GRAMMARS, find_language, fold_word
from explainers.toys.layers import Tokens
from explainers.toys.task import draw_news
from explainers.translations import _, get_language
from explainers.ui.controls import controls
from explainers.ui.controls.control import Control
from explainers.ui.untrusted_text import verbatim

NUM_SENTENCES = 2_000
"""Of the sentences that the head can read, so many are compared with the reader's."""


def find_unknown_words(tokens: Tokens) -> list[str]:
    """The words that training never saw, each once."""
    known = GRAMMARS[find_language(tokens)].word_ids
    return list(dict.fromkeys(token for token in tokens if fold_word(token) not in known))


def list_unknown_words(tokens: Tokens) -> str:
    """The same as a remark lists them; "" if training saw all."""
    return ", ".join(map(verbatim, find_unknown_words(tokens)))


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
