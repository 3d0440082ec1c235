"""What a page does where a reader's sentence has words that no trained head knows."""

import functools
from collections import Counter

import streamlit as st

from explainers.toys.examples import make_generator
from explainers.toys.grammar import GRAMMARS, NUM_WORDS, find_language, fold_word, read_running
from explainers.toys.layers import Tokens
from explainers.toys.task import draw_news
from explainers.translations import _, get_language
from explainers.ui.controls import controls
from explainers.ui.controls.control import Control
from explainers.ui.lecture.screens import screen
from explainers.ui.page import open_page
from explainers.ui.session import OTHER_WORD
from explainers.ui.untrusted_text import shorten, verbatim

INSPECTOR = "pages/17_inspector.py"
NUM_SENTENCES = 2_000
"""Of the sentences that the head can read, so many are compared with the reader's."""


def find_unknown_words(tokens: Tokens) -> list[str]:
    """The words that training never saw, each once."""
    known = GRAMMARS[find_language(tokens)].word_ids
    return list(dict.fromkeys(token for token in tokens if fold_word(token) not in known))


def list_unknown_words(tokens: Tokens) -> str:
    """The same as a remark lists them; "" if training saw all."""
    return ", ".join(map(verbatim, find_unknown_words(tokens)))


def take_known_words(tokens: Tokens) -> Tokens:
    """The words that a page draws: the reader's, or the running ones and a notice that says so.

    Trained heads have learned nothing about other words, and vectors drawn at random would look as
    if they had. The text stays in its field and in the link.
    """
    unknown = list_unknown_words(tokens)
    if not unknown:
        return tokens
    running = read_running(get_language()).tokens
    notice = _(
        "**Your own sentence.** Training had {known} words. New to it: {unknown}. Nothing was "
        "learned about them. Shown instead: *{shown}*.",
        known=NUM_WORDS,
        unknown=unknown,
        shown=" ".join(running),
    )
    st.info(notice, icon=":material/info:")
    offer_known_words(tokens)
    return running


ORDER = ("determiner", "subject", "verb", "object", "preposition", "time")
"""Parts that a sentence has in any case, one after the other."""


def offer_other_words(tokens: Tokens) -> None:
    """The sentence again, with a menu of known words in the place of each unknown one.

    Where most words are unknown, little of the reader's sentence would be left.
    """
    unknown = find_unknown_words(tokens)
    places = [place for place, word in enumerate(tokens) if word in unknown]
    if 2 * len(places) > len(tokens):
        return
    st.caption(_("Choose a known word in the place of each hatched one:"))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for place, word in enumerate(tokens):
            if place in places:
                _offer_other_word(tokens, place)
            else:
                st.markdown(word, width="content")


def _offer_other_word(tokens: Tokens, place: int) -> None:
    shown = shorten(tokens[place], 20)
    st.selectbox(
        _("In the place of “{word}”", word=shown),
        list_other_words(tokens, place),
        index=None,
        placeholder=shown,
        key=OTHER_WORD.format(place),
        on_change=_put_other_word,
        args=(tokens, place),
        label_visibility="collapsed",
        width=150,
    )


def list_other_words(tokens: Tokens, place: int) -> list[str]:
    """Known words of the sentence's topic that it does not have yet.

    First come those of the part that is due here, as far as the words before it tell.
    """
    grammar = GRAMMARS[find_language(tokens, get_language())]
    written = {*map(fold_word, tokens)}
    topic = grammar.find_topic(tokens)
    parts = [grammar.list_words(part, topic) for part in (*ORDER, "modifier", "adverb")]
    due = -1
    for word in map(fold_word, tokens[: place + 1]):
        own = [n for n in range(len(ORDER)) if word in map(fold_word, parts[n])]
        if own:
            due = next((n for n in own if n > due), own[0])
        elif word not in grammar.word_ids:
            due = (due + 1) % len(ORDER)
    offered = [word for part in (parts[due], *parts) for word in part]
    return [word for word in dict.fromkeys(offered) if fold_word(word) not in written]


def _put_other_word(tokens: Tokens, place: int) -> None:
    word = st.session_state[OTHER_WORD.format(place)]
    if word in list_other_words(tokens, place):
        changed = [*tokens[:place], word, *tokens[place + 1 :]]
        changed[0] = changed[0][:1].upper() + changed[0][1:]
        controls.sentence.put(" ".join(changed))


def offer_nearest_sentence(tokens: Tokens) -> None:
    """The nearest sentence of known words."""
    nearest = find_nearest_sentence(tokens)
    swap = _("Swap the words: “{sentence}”", sentence=nearest)
    offer_choice(swap, ":material/swap_horiz:", controls.sentence, nearest)


def offer_choice(label: str, icon: str, control: Control, value: object) -> None:
    """A button that chooses, for the whole page, also where it stands in a part that runs alone."""
    if st.button(label, icon=icon, on_click=control.put, args=(value,)):
        st.rerun()


def offer_known_words(tokens: Tokens) -> None:
    """Known words in the place of unknown ones, one by one or all; or a model that knows all."""
    with screen("rest", "known words"):
        offer_other_words(tokens)
        with st.container(horizontal=True):
            offer_nearest_sentence(tokens)
            if st.button(_("Use a real model"), icon=":material/psychology:"):
                open_page(INSPECTOR, step="")


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
