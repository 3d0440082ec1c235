"""From text to vectors: tokens, their ids, their rows, and where they stand."""

from dataclasses import dataclass

import streamlit as st
import torch

from explainers.attention.positions import Reordered, reorder, sinusoidal
from explainers.chapters.common import token_vectors
from explainers.chapters.tokens import takeaway
from explainers.chapters.tokens.cut_text import (
    BYTE_PAIRS,
    CORPUS,
    learn_shipped_merges,
    list_last_merges,
    list_ways,
    read_models,
)
from explainers.chapters.tokens.hero import make_hero
from explainers.chapters.tokens.token_questions import tokens_left, told_apart
from explainers.toys import examples
from explainers.toys.byte_pairs import BYTES, encode, learn_merges, merge_pair
from explainers.toys.layers import build_mask
from explainers.toys.sentence import Sentence
from explainers.translations import _, translate_error
from explainers.ui import page, provenance
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.figure.chart import show_chart
from explainers.ui.figure.clickable_figure import explore_figure
from explainers.ui.figure.hero import show_hero
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.page_parts.one_sentence import show_one_sentence
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import take
from explainers.ui.text.language import fragment
from explainers.ui.untrusted_text import verbatim

text = page.open_prose(__file__)
POSITIONS = 32
HEAD_DIM = 4
DOG, SWAPPED = ("dog", "bites", "man"), (2, 1, 0)


@dataclass(frozen=True)
class Choices:
    """Everything the reader can change about the vectors."""

    tokens: tuple[str, ...]
    d_model: int
    longest: int
    seed: int


def read_orders(choices: Choices, order: torch.Tensor) -> tuple[Reordered, Reordered]:
    """What each word gets in two orders, without positions and with them."""
    words, d_model = choices.tokens, choices.d_model
    x = examples.draw_embeddings(words, d_model, choices.seed)
    head = examples.random_head(d_model, HEAD_DIM, HEAD_DIM, choices.seed)
    places = sinusoidal(len(words), d_model, choices.longest).to(x.device)
    full = build_mask("full", x)
    without = reorder(x, torch.zeros_like(places), head, full, order)
    return without, reorder(x, places, head, full, order)


@fragment
def show_sum(words: tuple[str, ...]) -> None:
    """Embedding + position = what attention reads, a row per word."""
    text("steps")
    with st.container(horizontal=True):
        choices = Choices(words, controls.d_model(), controls.wave_base(), page.read_seed())
    x = examples.draw_embeddings(words, choices.d_model, choices.seed)
    positions = sinusoidal(POSITIONS, choices.d_model, choices.longest)
    here = positions[: len(words)].to(x.device)
    explore_figure(
        token_vectors.make_sum_panels(words, x, here),
        token_vectors.explain_sum(x, here, choices.longest),
        provenance.random_weights(choices.seed, x.device),
        "vectors",
        _("Embedding plus position is what attention reads, a row per token."),
    )
    takeaway.take_vectors(choices, x, positions)
    show_source(sinusoidal)


@fragment
def show_swapped_words() -> None:
    """Three words in two orders, with positions or without."""
    from explainers.charts.two_orders import draw_two_orders, make_order_rows

    order = torch.tensor(SWAPPED)
    without, placed = read_orders(Choices(DOG, 8, int(examples.LONGEST), page.read_seed()), order)
    has_positions = controls.positions_added()
    shown = placed if has_positions else without
    before = shown.before[order.argsort()]  # in the order in which it was read
    rows = make_order_rows(DOG, list(SWAPPED), before, shown.after)
    origin = provenance.random_weights(page.read_seed(), before.device)
    alt = _("The outputs of three words, read in two orders, joined by lines.")
    show_chart(draw_two_orders, rows, alt, "swapped", origin, words=len(DOG))
    moved = f"{token_vectors.find_largest_change(shown):.1g}"
    text("order_with" if has_positions else "order_without", moved=moved)


def ask_for_order() -> None:
    """Does attention read in order?"""
    text("order")
    choices = Choices(DOG, 8, int(examples.LONGEST), page.read_seed())
    without, _placed = read_orders(choices, torch.tensor(SWAPPED))
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
    with st.expander(_("The shipped text that is counted")):
        st.text(CORPUS.read_text(encoding="utf-8"))
    show_source(learn_merges, merge_pair)


@fragment
def show_waves() -> None:
    """P for many positions, a column per position."""
    d_model, longest = controls.d_model(), controls.wave_base()
    positions = sinusoidal(POSITIONS, d_model, longest)
    text("waves", places=POSITIONS)
    origin = provenance.formula(_("sines and cosines"), positions.device)
    token_vectors.show_waves(positions, origin)
    text("waves_tried")


def show_own_orders(words: tuple[str, ...]) -> None:
    """The reader's words in two orders, every number."""
    choices = Choices(words, 8, int(examples.LONGEST), page.read_seed())
    order = examples.shuffle_order(len(words), choices.seed)
    without, placed = read_orders(choices, order)
    origin = provenance.random_weights(choices.seed, without.before.device)
    text("own_order")
    text("order_without", moved=f"{token_vectors.find_largest_change(without):.1g}")
    token_vectors.show_two_orders(words, order, without, origin, "order")
    text("order_with", moved=f"{token_vectors.find_largest_change(placed):.1g}")
    token_vectors.show_two_orders(words, order, placed, origin, "placed")
    takeaway.take_orders(choices, HEAD_DIM, without, placed)
    show_source(reorder)


def take_cut(sentence: Sentence, unit: str, merges: int) -> None:
    """Only byte pairs are computed again."""
    if unit != BYTE_PAIRS:
        take("tokens")
        return
    ids = encode(sentence.text, learn_shipped_merges()[:merges])
    corpus = CORPUS.read_text(encoding="utf-8")
    takeaway.take_tokens(sentence.text, corpus, merges, ids)


text("question")
sentence = choose_text()
hero = make_hero(text, sentence, page.read_seed())
show_hero(text, hero, "cut text")
merges = hero.chosen(controls.merges)
take_cut(sentence, hero.chosen(controls.token_unit), merges)
ask_for_order()
show_sum(sentence.tokens)
go_deeper(
    text,
    {
        "ways": lambda: show_ways(sentence),
        "merges": lambda: show_merges(merges),
        "waves": show_waves,
        "order": lambda: show_own_orders(sentence.tokens),
    },
)
show_one_sentence(text)
check_yourself(text, {"merges": tokens_left, "order": told_apart})
