"""Masks: which words may attend to which, what a mask leaves and what it costs."""

import streamlit as st

from explainers.attention import masks
from explainers.attention.receptive_field import cells, reach, window_reach
from explainers.attention.steps import hide, softmax
from explainers.chapters.common import choose_layer
from explainers.chapters.common.reader_sentence import choose_sentence, take_known_words
from explainers.chapters.common.score_matrix import FEWEST, Lab, write_word_count
from explainers.chapters.exercises import predict
from explainers.chapters.masks import changed_text, hero, masks_compared, takeaway
from explainers.chapters.masks.padded_batch import PAD, draw_batch, fill_batch
from explainers.chapters.masks.window_reach import NEVER, ask_reach, draw_reach, find_reach
from explainers.ui import page, tour
from explainers.ui.controls import controls
from explainers.ui.figure.clickable_figure import show_clickable_figure
from explainers.ui.figure.hero import Hero, show_hero
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.page_parts.veil import ask_veiled
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment

text = page.open_prose(__file__)


@fragment
def ask_leak(lab: Lab) -> None:
    """What is hidden too late: zeros after the softmax."""
    answer, named = changed_text.name_leak(lab, leak := changed_text.find_leak(lab))
    if revealed(text, "leak", changed_text.ROWS, answer, "", **named):
        takeaway.take_leak(lab, leak)
        show_figure(changed_text.draw_leak(lab, leak), lab.origin, "leak")
        text("leak_seen", **named)
        show_source(*changed_text.WAYS.values())


def show_two_steps(lab: Lab, shown: Hero) -> None:
    """−∞, then the softmax, under the mask of the first picture."""
    text("how")
    drawing = hero.find_drawing(shown, lab)
    takeaway.take_first(lab, hero.choose_numbers(shown), drawing)
    if drawing and drawing.empty_row is not None:
        masks_compared.warn_of_empty_row(drawing)
        return
    mask, word = hero.find_mask(shown, words), shown.chosen(controls.followed_word)
    steps = masks_compared.draw_two_steps(lab, mask, word)
    show_clickable_figure(*steps[:2], lab.origin, "two steps", steps.alt)
    show_source(hide, softmax, *masks_compared.list_rules())


def show_side_by_side() -> None:
    """One matrix under every mask, of a wider head."""
    choose_layer.describe_wide_layer(wide.layer, page.read_seed())
    text("masks_seen")
    if numbers["window"] > words:
        text("too_wide", width=numbers["window"], words=write_word_count(words))
    shown = masks_compared.mask_weights(wide.layer, numbers)
    drawn = masks_compared.draw_masks(wide, numbers, shown)
    show_clickable_figure(*drawn[:2], wide.origin, "masks", drawn.alt)
    takeaway.take_masks(wide, numbers, shown, "all masks")
    if not is_short:
        word, lost, options, total = masks_compared.measure_later_share(wide)
        ask_veiled(text, "moved", total, options, word=word, lost=lost)
    choose_layer.offer_training(wide.layer)


def show_costs() -> None:
    """How many cells each mask leaves."""
    options, left = masks_compared.list_cell_options(words), f"{cells(readable.mask(masks.causal))}"
    ask_veiled(text, "cells", left, options, words=words, pairs=words**2)
    rows = masks_compared.write_cost_rows(words, numbers)
    text("costs", words=words, length=f"{masks_compared.LONG:,}", rows=rows)


def show_batch() -> None:
    """Two sentences of different lengths in one call."""
    batch = fill_batch(readable)
    text("batch", **(named := batch.name_sizes()))
    if readable.layer.learned:
        text("unknown_filling", **named)
    takeaway.take_batch(batch)
    show_figure(draw_batch(readable, batch), readable.origin_with(PAD), "batch")


def show_empty_row() -> None:
    """A row that may look at nothing: the reader's own, and an example."""
    if (drawing := masks_compared.read_drawing(readable)).empty_row is not None:
        masks_compared.warn_of_empty_row(drawing)
        text("refused", **drawing.name_refusal(readable))
    named, printed, refusal = masks_compared.empty_a_row(readable)
    text("empty_row", **named)
    st.code(printed, wrap_lines=True)
    text("empty_row_refused", said=refusal)
    show_source(masks.build)


def show_reach() -> None:
    """How far windows reach when they are stacked in layers."""
    text("reach")
    width = int(controls.reach_window())
    answer, named = ask_reach(readable.tokens, width)
    ask_veiled(text, "reach", answer, ("1", "2", "3", NEVER), **named)
    text("reach_seen")
    found = find_reach(words, width)
    takeaway.take_reach(found)
    show_figure(draw_reach(readable, found), found.origin, "reach")
    show_source(reach, window_reach)


def show_one_pass() -> None:
    """What a model gains that never looks ahead."""
    text("one_pass", count=words)
    st.code(changed_text.list_next_words(tokens), language=None, wrap_lines=True)
    growth = changed_text.find_growth(tokens, page.read_seed())
    full, named = growth.count_rows()
    ask_veiled(text, "growing", full, ("0", "1", f"{words}"), **named)
    takeaway.take_added_word(*growth)
    show_figure(changed_text.draw_growing(tokens, growth.found), growth.origin, "growing")


text("question")
tokens = take_known_words(choose_sentence().tokens, has_untrained=True)
words, is_short = len(tokens), len(tokens) < FEWEST
readable, wide = (Lab(layer, page.has_queries_down()) for layer in choose_layer.read_layers(tokens))
picture = hero.make_hero(text, readable)
show_hero(text, picture, "masked")
tour.end_stop(text)
if (drawn_for := controls.drawn_cells.count_words(words)) != words:
    text("drawn_for_another", drawn=write_word_count(drawn_for), words=words)
if is_short:
    text("too_short", words=write_word_count(words), fewest=FEWEST)
else:
    ask_leak(wide)
show_two_steps(readable, picture)
numbers = hero.choose_numbers(picture)
of_any_text = {"side_by_side": show_side_by_side, "costs": show_costs, "batch": show_batch}
of_more_words = {"empty": show_empty_row, "reach": show_reach, "one_pass": show_one_pass}
go_deeper(text, of_any_text if is_short else of_any_text | of_more_words)
show_one_sentence(text)
check_yourself(text, {"row": predict.a_row_under_a_mask, "window": predict.cells_of_a_window})
