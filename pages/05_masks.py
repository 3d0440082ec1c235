"""Masks: which words may attend to which, and what a mask leaves."""

from typing import Any

import streamlit as st

from explainers.attention import receptive_field
from explainers.attention.steps import hide, softmax
from explainers.chapters.common import choose_layer, score_matrix
from explainers.chapters.common.sentence_reading import choose_reading, choose_sentence, show_reader
from explainers.chapters.exercises import predict
from explainers.chapters.masks import cards, compute, hero
from explainers.translations import _
from explainers.ui import page, tour
from explainers.ui.controls import controls
from explainers.ui.figure.hero import Hero, show_chosen, show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.prediction import ask_veiled, revealed
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import run_and_hand_over
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def ask_leak() -> None:
    """What is hidden too late: zeros after the softmax."""
    small, lab = score_matrix.read_known_labs(reading, readable, wide)
    answer, named = cards.name_leak(lab, leak := cards.find_leak(lab))
    if revealed(text, "leak", cards.ROWS, answer, **named):
        cards.show_leak(lab, leak)
        text("leak_seen", **named)
        if lab.layer.head().w_query.numel() > small.layer.head().w_query.numel():
            text("leak_larger", **named)
        show_source(*compute.WAYS.values())


def show_all() -> None:
    """One matrix under every mask, of a wider head."""
    choose_layer.describe_wide_layer(wide.layer, page.read_seed())
    text("masks_seen")
    numbers = hero.choose_numbers()
    if numbers["window"] > words:
        text("too_wide", width=numbers["window"], words=score_matrix.write_word_count(words))
    inputs: dict[str, Any] = {"layer": wide.layer, "numbers": numbers}
    title, mask_weights = _("One matrix, many masks"), compute.mask_weights
    shown = run_and_hand_over("all masks", title, mask_weights, **inputs)
    cards.show_masks(wide, numbers, shown)
    choose_layer.offer_training(wide.layer)


def show_batch() -> None:
    """Two sentences of different lengths in one call."""
    batch = cards.fill_batch(known := score_matrix.read_known_labs(reading, readable, wide)[0])
    text("batch", **(named := batch.name_sizes()))
    if known.layer.learned:
        text("unknown_filling", **named)
    cards.show_batch(known, batch)


def show_reach() -> None:
    """How far windows reach when they are stacked in layers."""
    text("reach")
    width = int(controls.reach_window())
    answer, named = cards.ask_reach(readable.tokens, width)
    ask_veiled(text, "reach", answer, ("1", "2", "3", cards.NEVER), **named)
    text("reach_seen")
    cards.show_reach(readable, width)
    show_source(receptive_field.reach, receptive_field.window_reach)


def show_one_pass() -> None:
    """What a model gains that never looks ahead."""
    tokens = reading.known
    reading.explain_known()
    text("one_pass", count=len(tokens))
    st.code(cards.list_next_words(tokens), language=None)
    inputs = {"tokens": tokens, "seed": page.read_seed()}
    title, added = _("One more word"), compute.compute_added_word
    found = run_and_hand_over("growing", title, added, **inputs)
    full, named = cards.ask_added_word(tokens, found)
    if ask_veiled(text, "growing", full, ("0", "1", f"{len(tokens)}"), **named):
        cards.show_added_word(tokens, found, page.read_seed())


def show_how(picture: Hero) -> None:
    """What the mask takes away, and what softmax makes of the rest."""
    drawn = hero.find_drawing(picture, words)
    if drawn is not None and cards.find_empty_row(drawn) is not None:
        cards.warn_of_empty_row(drawn)
    else:
        mask, word = hero.find_mask(picture, words), picture.chosen(controls.followed_word)
        cards.show_two_steps(readable, mask, word)
        show_source(hide, softmax, *cards.list_rules())


@fragment
def show_lesson() -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    picture = hero.make_hero(text, reading, readable)
    show_hero(text, picture, "masked")
    tour.end_stop(text)
    show_reader(reading)
    if (drawn_for := controls.drawn_cells.count_words(words)) != words:
        text("drawn_for_another", drawn=score_matrix.write_word_count(drawn_for), words=words)
    if is_short:
        text("too_short", words=score_matrix.write_word_count(words), fewest=score_matrix.FEWEST)
    else:
        ask_leak()
    text("how")
    drawn = hero.find_drawing(picture, words)
    cards.hand_over_weights(readable, hero.choose_numbers(), drawn)
    show_chosen("two steps", lambda: show_how(picture))
    deeper = {"side_by_side": show_all, "batch": show_batch}
    of_more_words = {"reach": show_reach, "one_pass": show_one_pass}
    go_deeper(text, deeper if is_short else deeper | of_more_words)


text("question")
reading = choose_reading(
    choose_sentence(), is_trained=controls.weights(is_drawn=False) == "trained"
)
words, is_short = len(reading.tokens), len(reading.tokens) < score_matrix.FEWEST
readable, wide = score_matrix.read_labs(reading)
show_lesson()
show_one_sentence(text)
check_yourself(text, {"row": predict.a_row_under_a_mask, "window": predict.cells_of_a_window})
