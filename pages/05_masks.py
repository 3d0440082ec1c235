"""Masks: which words may attend to which, and what a mask leaves."""

from typing import Any

import streamlit as st

from explainers.attention import receptive_field
from explainers.attention.steps import hide, softmax
from explainers.chapters.common import choose_layer, score_matrix
from explainers.chapters.common.reader_sentence import choose_sentence
from explainers.chapters.common.sentence_reading import choose_reading, show_reader
from explainers.chapters.exercises import predict
from explainers.chapters.masks import changed_text, hero, side_by_side, window_reach
from explainers.chapters.masks.padded_batch import (
    PAD,
    compute_batch_weights,
    draw_batch,
    fill_batch,
)
from explainers.translations import _
from explainers.ui import page, tour
from explainers.ui.controls import controls
from explainers.ui.figure.clickable_figure import show_clickable_figure
from explainers.ui.figure.hero import show_hero
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.page_parts.veil import ask_veiled
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import hand_over, run_and_hand_over
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def ask_leak() -> None:
    """What is hidden too late: zeros after the softmax."""
    lab = score_matrix.read_known_labs(reading, readable, wide)[1]
    answer, named = changed_text.name_leak(lab, leak := changed_text.find_leak(lab))
    if revealed(text, "leak", changed_text.ROWS, answer, "", **named):
        inputs = {"layer": lab.layer, "other": leak.other}
        title = _("−∞ before the softmax, or 0 after it")
        hand_over("leak", title, changed_text.compute_leak, **inputs)
        show_figure(changed_text.draw_leak(lab, leak), lab.origin, "leak")
        text("leak_seen", **named)
        show_source(*changed_text.WAYS.values())


def show_all() -> None:
    """One matrix under every mask, of a wider head."""
    choose_layer.describe_wide_layer(wide.layer, page.read_seed())
    text("masks_seen")
    numbers = hero.choose_numbers()
    if numbers["window"] > words:
        text("too_wide", width=numbers["window"], words=score_matrix.write_word_count(words))
    inputs: dict[str, Any] = {"layer": wide.layer, "numbers": numbers}
    title, mask_weights = _("One matrix, many masks"), side_by_side.mask_weights
    shown = run_and_hand_over("all masks", title, mask_weights, **inputs)
    drawn = side_by_side.draw_masks(wide, numbers, shown)
    show_clickable_figure(*drawn[:2], wide.origin, "masks", drawn.alt)
    choose_layer.offer_training(wide.layer)


def show_batch() -> None:
    """Two sentences of different lengths in one call."""
    batch = fill_batch(known := score_matrix.read_known_labs(reading, readable, wide)[0])
    text("batch", **(named := batch.name_sizes()))
    if known.layer.learned:
        text("unknown_filling", **named)
    inputs = dict(zip(("layer", "other"), batch.layers, strict=True), lengths=batch.lengths)
    hand_over("batch", _("Two sentences in one batch"), compute_batch_weights, **inputs)
    show_figure(draw_batch(known, batch), known.origin_with(PAD), "batch")


def show_reach() -> None:
    """How far windows reach when they are stacked in layers."""
    text("reach")
    width = int(controls.reach_window())
    answer, named = window_reach.ask_reach(readable.tokens, width)
    ask_veiled(text, "reach", answer, ("1", "2", "3", window_reach.NEVER), **named)
    text("reach_seen")
    window_reach.take_reach(found := window_reach.find_reach(words, width))
    show_figure(window_reach.draw_reach(readable, found), found.origin, "reach")
    show_source(receptive_field.reach, receptive_field.window_reach)


def show_one_pass() -> None:
    """What a model gains that never looks ahead."""
    tokens = reading.known
    reading.explain_known()
    text("one_pass", count=len(tokens))
    st.code(changed_text.list_next_words(tokens), language=None)
    growth = changed_text.find_growth(tokens, page.read_seed())
    full, named = growth.count_rows()
    inputs = {"tokens": tokens, "seed": page.read_seed()}
    hand_over("growing", _("One more word"), changed_text.compute_added_word, **inputs)
    if ask_veiled(text, "growing", full, ("0", "1", f"{len(tokens)}"), **named):
        show_figure(changed_text.draw_growing(tokens, growth.found), growth.origin, "growing")


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
    drawing = hero.find_drawing(picture, readable)
    side_by_side.take_first(readable, hero.choose_numbers(), drawing)
    if drawing and drawing.empty_row is not None:
        side_by_side.warn_of_empty_row(drawing)
    else:
        mask, word = hero.find_mask(picture, words), picture.chosen(controls.followed_word)
        steps = side_by_side.draw_two_steps(readable, mask, word)
        show_clickable_figure(*steps[:2], readable.origin, "two steps", steps.alt)
        show_source(hide, softmax, *side_by_side.list_rules())
    cards = {"side_by_side": show_all, "batch": show_batch}
    of_more_words = {"reach": show_reach, "one_pass": show_one_pass}
    go_deeper(text, cards if is_short else cards | of_more_words)


text("question")
reading = choose_reading(choose_sentence(), is_trained=controls.weights.read() == "trained")
words, is_short = len(reading.tokens), len(reading.tokens) < score_matrix.FEWEST
readable, wide = score_matrix.read_labs(reading)
show_lesson()
show_one_sentence(text)
check_yourself(text, {"row": predict.a_row_under_a_mask, "window": predict.cells_of_a_window})
