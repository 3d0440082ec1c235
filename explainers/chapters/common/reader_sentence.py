"""The reader's own sentence: typed, or made of words in menus that the trained heads know."""

import functools
from collections import Counter

import streamlit as st

from explainers.messages import N_
from explainers.toys.examples import make_generator
from explainers.toys.grammar import GRAMMARS, Grammar, find_language, fold_word
from explainers.toys.layers import Tokens
from explainers.toys.sentence import Sentence, list_known_examples, split_words
from explainers.toys.task import draw_news
from explainers.translations import _, get_language
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.controls.control import Control
from explainers.ui.session import BUILT_WORD

MENUS = (N_("Who"), N_("did"), N_("what kind of"), N_("what"), N_("on"))
"""The parts of "the CEO announced record earnings on Friday" that can be chosen."""
NOTHING = "–"
"""What a menu offers for a part that can be left out."""
NUM_SENTENCES = 2_000
"""Of the sentences that the head can read, so many are compared with the reader's."""
Parts = tuple[str, ...]
"""A word for each menu; "" where there is none, which only the kind may be."""


def choose_sentence(has_menus: bool = True) -> Sentence:
    """Ask for the reader's sentence: typed, chosen among known ones, or made of words in menus."""
    return choose_text(
        offer_menus if has_menus else None, examples=list_known_examples(get_language())
    )


def offer_menus(text: str) -> None:
    """A menu for each part of the reader's sentence; a choice makes another sentence."""
    box = st.popover(
        _("Build one"),
        icon=":material/construction:",
        help=_("Build a sentence"),
        key="build one",
        on_change="rerun",
    )
    if not box.open:  # five lists are a tenth of every run of a page, and few open them
        return
    parts = find_parts(text)
    with box:
        for place in order_menus(parts):
            name = MENUS[place]
            key = BUILT_WORD.format(name)
            st.session_state[key] = parts[place]
            st.selectbox(
                _(name),
                list_words(parts, place),
                format_func=lambda word: word or NOTHING,
                key=key,
                on_change=_take_word,
                args=(parts, place),
            )


def order_menus(parts: Parts) -> list[int]:
    """The menus as their words stand in the sentence."""
    who, did, kind, what, time = range(len(MENUS))
    thing = (what, kind) if _find_grammar(parts).has_modifier_last else (kind, what)
    return [who, did, *thing, time]


def find_parts(text: str) -> Parts:
    """The words of a text that the menus offer, by their places; others from the running sentence.

    All are of the topic that most of the text is about, because no sentence was learned of two.
    """
    written = split_words(text)
    grammar = GRAMMARS[find_language(written, get_language())]
    own, running = ([*map(fold_word, one)] for one in (written, grammar.running.tokens))
    parts: Parts = ()
    for offered in _list_parts(grammar, grammar.find_topic(written)):
        free = {fold_word(word): word for word in offered if word not in parts}
        kept = [free[word] for word in own if word in free]
        usual = [free[word] for word in running if word in free]
        parts += (next(iter([*kept, *([""] if "" in offered else usual), *free.values()])),)
    return parts


def list_words(parts: Parts, place: int) -> list[str]:
    """What one menu offers: who did it, of any topic; the rest, of the topic that it is."""
    grammar = _find_grammar(parts)
    if place == 0:
        topics = range(len(grammar.topics))
        return sorted(word for one in topics for word in _list_parts(grammar, one)[0])
    offered = _list_parts(grammar, _find_topic(grammar, parts[0]))[place]
    return [word for word in offered if word not in parts[:1]]


def replace_part(parts: Parts, place: int, word: str) -> Parts:
    """The same sentence with another word; of another topic, the words that stand there instead."""
    grammar = _find_grammar(parts)
    whos = parts[0], word if place == 0 else parts[0]
    old, new = (_list_parts(grammar, _find_topic(grammar, who)) for who in whos)
    moved = [
        there[here.index(part) % len(there)]
        for part, here, there in zip(parts, old, new, strict=True)
    ]
    moved[place] = word
    return find_parts(write_sentence(tuple(moved)))


def write_sentence(parts: Parts) -> str:
    """The sentence of these words."""
    who, grammar = parts[0], _find_grammar(parts)
    is_one = who in grammar.list_words("one", _find_topic(grammar, who))
    determiner = grammar.list_words("determiner")[0 if is_one else -1]
    on = grammar.list_words("preposition")[0]
    *said, time = (parts[place] for place in order_menus(parts))
    return " ".join(filter(None, (determiner.capitalize(), *said, on, time)))


def _find_grammar(parts: Parts) -> Grammar:
    return GRAMMARS[find_language(parts, get_language())]


def _find_topic(grammar: Grammar, who: str) -> int:
    """The topic of a sentence, by who did it."""
    topics = range(len(grammar.topics))
    return next(topic for topic in topics if who in _list_parts(grammar, topic)[0])


@functools.cache
def _list_parts(grammar: Grammar, topic: int) -> tuple[list[str], ...]:
    """What can be chosen of a topic, by menu."""
    who, did, kind, what, time = (
        grammar.list_words(part, topic)
        for part in ("subject", "verb", "modifier", "object", "time")
    )
    return who, did, ["", *kind], what, time


def _take_word(parts: Parts, place: int) -> None:
    word = st.session_state[BUILT_WORD.format(MENUS[place])]
    if word in list_words(parts, place):
        st.session_state[controls.sentence.key] = write_sentence(replace_part(parts, place, word))


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
