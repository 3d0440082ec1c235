"""From text to vectors: tokens, their ids, their rows, and where they stand."""

import streamlit as st

from explainers.attention.positions import reorder, sinusoidal
from explainers.chapters.tokens import cards, hero
from explainers.toys.byte_pairs import learn_merges, merge_pair
from explainers.toys.sentence import Sentence
from explainers.translations import translate_error
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.figure.hero import show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment
from explainers.ui.untrusted_text import verbatim

text = page.Prose(__file__)


@fragment
def show_one_sum(words: tuple[str, ...]) -> None:
    """Embedding + position = what attention reads, for one word."""
    text("steps")
    word = controls.followed_word.choose_by_name(words)
    cards.draw_one_sum(words, word, page.read_seed())
    show_source(sinusoidal)


@fragment
def show_swapped_words() -> None:
    """Three words in two orders, with positions or without."""
    without, placed = cards.read_dog(page.read_seed())
    has_positions = controls.positions_added()
    shown = placed if has_positions else without
    cards.draw_dog(shown, page.read_seed())
    text("order_with" if has_positions else "order_without", moved=cards.name_largest_change(shown))
    show_source(reorder)


def ask_for_order() -> None:
    """Does attention read in order?"""
    text("order")
    without, _placed = cards.read_dog(page.read_seed())
    if revealed(text, "order", cards.ANSWERS, cards.describe_change(without)):
        show_swapped_words()


def show_ways(sentence: Sentence) -> None:
    """All ways to cut, beside each other."""
    models, errors = hero.read_models(sentence.text)
    text("ways", rows=hero.list_ways(sentence, models))
    if not models and not errors:
        text("no_tokenizer")
    for error in errors:
        st.error(verbatim(translate_error(error)), icon=":material/error:")
    show_source(learn_merges, merge_pair)


def show_waves(words: tuple[str, ...]) -> None:
    """A position as clock hands, added to a word."""
    text("waves")
    cards.draw_hands(words, controls.d_model(), page.read_seed())


@fragment
def show_lesson(sentence: Sentence) -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    picture = hero.make_hero(text, sentence, page.read_seed())
    show_hero(text, picture, "cut text")
    unit, merges = map(picture.chosen, (controls.token_unit, controls.merges))
    hero.take_cut(sentence.text, unit, merges)
    ask_for_order()
    show_one_sum(sentence.tokens)
    go_deeper(
        text, {"ways": lambda: show_ways(sentence), "waves": lambda: show_waves(sentence.tokens)}
    )


text("question")
show_lesson(choose_text(most_words=None))
show_one_sentence(text)
check_yourself(text, {"merges": hero.recall_tokens_left, "order": cards.recall_order})
