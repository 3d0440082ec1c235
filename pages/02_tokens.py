"""From text to vectors: tokens, their ids, their rows, and where they stand."""

import streamlit as st

from explainers.attention.positions import reorder, sinusoidal
from explainers.chapters.common import token_vectors
from explainers.chapters.tokens import takeaway, word_positions
from explainers.chapters.tokens.cut_text import (
    CORPUS,
    learn_shipped_merges,
    list_last_merges,
    list_ways,
    read_models,
    recall_tokens_left,
)
from explainers.chapters.tokens.hero import WIDTH, make_hero, take_cut
from explainers.chapters.tokens.word_positions import VectorChoices, name_quick_turn, recall_order
from explainers.toys import examples
from explainers.toys.byte_pairs import BYTES, learn_merges, merge_pair
from explainers.toys.sentence import Sentence
from explainers.translations import _, translate_error
from explainers.ui import page, provenance
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
    word_positions.draw_one_sum(
        VectorChoices(words, WIDTH, int(examples.LONGEST), page.read_seed()), word
    )
    show_source(sinusoidal)


def show_sum(words: tuple[str, ...]) -> None:
    """The same for all words, a row each, in the sizes that are chosen for the waves."""
    text("sum")
    word_positions.draw_sum(VectorChoices(words, *word_positions.read_sizes(), page.read_seed()))


@fragment
def show_swapped_words() -> None:
    """Three words in two orders, with positions or without."""
    without, placed = word_positions.read_dog(page.read_seed())
    has_positions = controls.positions_added()
    shown = placed if has_positions else without
    word_positions.draw_dog(shown, page.read_seed())
    moved = f"{token_vectors.find_largest_change(shown):.1g}"
    text("order_with" if has_positions else "order_without", moved=moved)


def ask_for_order() -> None:
    """Does attention read in order?"""
    text("order")
    without, _placed = word_positions.read_dog(page.read_seed())
    if revealed(text, "order", token_vectors.ANSWERS, token_vectors.describe_change(without)):
        show_swapped_words()


def show_ways(sentence: Sentence) -> None:
    """All ways to cut, beside each other."""
    models, errors = read_models(sentence.text)
    text("ways", rows=list_ways(sentence, models))
    if not models and not errors:
        text("no_tokenizer")
    for error in errors:
        st.error(verbatim(translate_error(error)), icon=":material/error:")


def show_merges(merges: int) -> None:
    """The last merges that were learned, newest first."""
    learned = learn_shipped_merges()[:merges]
    text("merges", vocabulary=BYTES + len(learned), merges=len(learned))
    if learned:
        st.code(list_last_merges(learned), language=None)
    with st.expander(_("The built-in text that is counted")):
        st.text(CORPUS.read_text(encoding="utf-8"))
    show_source(learn_merges, merge_pair)


def show_waves(words: tuple[str, ...]) -> None:
    """A position as clock hands, then P for many positions, a column each."""
    text("waves")
    d_model, bases = controls.d_model(), word_positions.make_base_slider()
    word_positions.draw_hands(words, d_model, page.read_seed(), bases)
    text("waves_all", places=word_positions.POSITIONS)
    word_positions.draw_waves(d_model, bases)
    text("waves_tried", **name_quick_turn())
    st.page_link("pages/07_relative_positions.py", label=_("Relative positions"))


def show_own_orders(words: tuple[str, ...]) -> None:
    """The reader's words in two orders, every number."""
    seed = page.read_seed()
    order = examples.shuffle_order(len(words), seed)
    without, placed = word_positions.read_orders(words, order, seed)
    origin = provenance.random_weights(seed, without.before.device)
    text("own_order")
    text("order_without", moved=f"{token_vectors.find_largest_change(without):.1g}")
    token_vectors.show_two_orders(words, order, without, origin, "order")
    text("order_with", moved=f"{token_vectors.find_largest_change(placed):.1g}")
    token_vectors.show_two_orders(words, order, placed, origin, "placed")
    choices = VectorChoices(words, WIDTH, int(examples.LONGEST), seed)
    takeaway.take_orders(choices, word_positions.HEAD_DIM, without, placed)
    show_source(reorder)


@fragment
def show_lesson(sentence: Sentence) -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    hero = make_hero(text, sentence, page.read_seed())
    show_hero(text, hero, "cut text")
    merges = hero.chosen(controls.merges)
    take_cut(sentence.text, hero.chosen(controls.token_unit), merges)
    ask_for_order()
    show_one_sum(sentence.tokens)
    go_deeper(
        text,
        {
            "ways": lambda: show_ways(sentence),
            "merges": lambda: show_merges(merges),
            "waves": lambda: show_waves(sentence.tokens),
            "sum": lambda: show_sum(sentence.tokens),
            "order": lambda: show_own_orders(sentence.tokens),
        },
    )


text("question")
show_lesson(choose_text())
show_one_sentence(text)
check_yourself(text, {"merges": recall_tokens_left, "order": recall_order})
