"""Masks: which words may attend to which, what a mask leaves and what it costs."""

import streamlit as st

from explainers.attention import masks
from explainers.attention.receptive_field import cells, reach, window_reach
from explainers.attention.steps import hide, softmax
from explainers.chapters.common.choose_layer import (
    describe_wide_layer,
    list_unknown,
    offer_training,
    read_layers,
)
from explainers.chapters.common.number_words import bound_rounding
from explainers.chapters.common.own_words import offer_known_words, offer_untrained_weights
from explainers.chapters.common.score_matrix import FEWEST, Lab, count_changed_rows, of_words
from explainers.chapters.exercises import predict
from explainers.chapters.masks import changed_text, drawn_mask, hero, masks_compared, takeaway
from explainers.chapters.masks.masked_weights import ADDED, WAYS, mask_weights, measure_new_word
from explainers.chapters.masks.padded_batch import PAD, draw_batch, fill_batch
from explainers.chapters.masks.window_reach import NEVER, ask_reach, draw_reach, find_reach
from explainers.toys.layers import Tokens
from explainers.toys.task import WORDS
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.figure.clickable_figure import show_clickable_figure
from explainers.ui.figure.hero import Hero, show_hero
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.page_parts.one_sentence import show_one_sentence
from explainers.ui.page_parts.veil import ask_veiled
from explainers.ui.prediction import revealed
from explainers.ui.provenance import random_weights
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment
from explainers.ui.untrusted_text import verbatim

text = page.open_prose(__file__)


@fragment
def ask_leak(lab: Lab) -> None:
    """What is hidden too late: zeros after the softmax."""
    leak, last, earlier = changed_text.find_leak(lab), verbatim(lab.tokens[-1]), words - 1
    after, before = (leak.changed_rows(way) for way in WAYS)
    named: dict[str, object] = {"last": last, "new": verbatim(leak.new), "earlier": earlier}
    named |= {"after": after, "kept": before}
    if revealed(text, "leak", changed_text.ROWS, changed_text.name_rows(after), "", **named):
        takeaway.take_leak(lab, leak)
        show_figure(changed_text.draw_leak(lab, leak), lab.origin, "leak")
        row, by = leak.least_moved()
        text("leak_seen", least=verbatim(lab.tokens[row]), by=by)
        show_source(*WAYS.values())


def show_two_steps(lab: Lab, shown: Hero) -> None:
    """−∞, then the softmax, under the mask of the first picture."""
    text("how")
    mask, numbers = hero.find_mask(shown, words), hero.choose_numbers(shown)
    if shown.chosen(controls.mask_of_picture) == hero.OWN:
        drawing = drawn_mask.read_drawing(lab)
        takeaway.take_drawing(lab, drawing)
        if drawing.empty_row is not None:
            drawn_mask.warn_of_empty_row(drawing)
            return
    else:
        takeaway.take_masks(lab, numbers, mask_weights(lab.layer, numbers))
    word = shown.chosen(controls.followed_word)
    picture = masks_compared.draw_two_steps(lab, mask, word)
    show_clickable_figure(*picture[:2], lab.origin, "two steps", picture.alt)
    show_source(hide, softmax, *masks_compared.list_rules())


def show_side_by_side(lab: Lab, numbers: dict[str, int]) -> None:
    """One matrix under every mask, of a wider head."""
    describe_wide_layer(lab.layer, page.read_seed())
    text("masks_seen")
    if numbers["window"] > words:
        text("too_wide", width=numbers["window"], words=of_words(words))
    shown = mask_weights(lab.layer, numbers)
    picture = masks_compared.draw_masks(lab, numbers, shown)
    show_clickable_figure(*picture[:2], lab.origin, "masks", picture.alt)
    takeaway.take_masks(lab, numbers, shown, "all masks")
    if words >= FEWEST:
        word, lost, options, total = masks_compared.later_share(lab)
        ask_veiled(text, "moved", total, options, word=word, lost=lost)
    offer_training(lab.layer)


def show_costs(lab: Lab, numbers: dict[str, int]) -> None:
    """How many cells each mask leaves."""
    options, left = masks_compared.cell_options(words), f"{cells(lab.mask(masks.causal))}"
    ask_veiled(text, "cells", left, options, words=words, pairs=words**2)
    rows = masks_compared.cost_rows(words, numbers)
    text("costs", words=words, length=f"{masks_compared.LONG:,}", rows=rows)


def show_batch(lab: Lab) -> None:
    """Two sentences of different lengths in one call."""
    batch = fill_batch(lab)
    text("batch", length=max(batch.lengths), moved=bound_rounding(batch.compare()))
    if lab.layer.learned:
        text("unknown_filling", filling=verbatim(PAD))
    takeaway.take_batch(batch)
    show_figure(draw_batch(lab, batch), lab.origin_with(PAD), "batch")


def show_empty_row(lab: Lab) -> None:
    """A row that may look at nothing: the reader's own, and an example."""
    drawing = drawn_mask.read_drawing(lab)
    if drawing.empty_row is not None:
        row = drawing.empty_row
        drawn_mask.warn_of_empty_row(drawing)
        text("refused", row=row, word=verbatim(lab.tokens[row]), share=drawing.share)
    row, printed, refusal = drawn_mask.empty_a_row(lab)
    text("empty_row", word=verbatim(lab.tokens[row]), row=row)
    st.code(printed, wrap_lines=True)
    text("empty_row_refused", said=refusal)
    show_source(masks.build)


def show_reach(lab: Lab) -> None:
    """How far windows reach when they are stacked in layers."""
    text("reach")
    width = int(controls.reach_window())
    answer, named = ask_reach(lab.tokens, width)
    ask_veiled(text, "reach", answer, ("1", "2", "3", NEVER), **named)
    text("reach_seen")
    found = find_reach(words, width)
    takeaway.take_reach(found)
    show_figure(draw_reach(lab, found), found.origin, "reach")
    show_source(reach, window_reach)


def show_one_pass(tokens: Tokens) -> None:
    """What a model gains that never looks ahead."""
    text("one_pass", count=words)
    st.code(changed_text.list_next_words(tokens), language=None, wrap_lines=True)
    found = measure_new_word(tokens, seed := page.read_seed())
    full, causal = (count_changed_rows(change.key) for change in found.values())
    named = {"added": verbatim(ADDED), "last": verbatim(tokens[-1]), "rows": words}
    ask_veiled(text, "growing", f"{full}", ("0", "1", f"{words}"), causal=causal, **named)
    takeaway.take_added_word(tokens, seed, found)
    origin = random_weights(seed, found["full"].key.device)
    show_figure(changed_text.draw_growing(tokens, found), origin, "growing")


text("question")
tokens = choose_text().tokens
words, is_short = len(tokens), len(tokens) < FEWEST
readable, wide = (Lab(layer, page.has_queries_down()) for layer in read_layers(tokens))
if readable.layer.unknown:
    text("own_words", known=len(WORDS), unknown=list_unknown(readable.layer))
    offer_known_words(tokens)
    offer_untrained_weights()
    st.stop()
picture = hero.make_hero(text, readable)
show_hero(text, picture, "masked")
drawn_for = controls.drawn_cells.count_words(words)
if drawn_for != words:
    text("drawn_for_another", drawn=of_words(drawn_for), words=words)
if is_short:
    text("too_short", words=of_words(words), fewest=FEWEST)
else:
    ask_leak(wide)
show_two_steps(readable, picture)
numbers = hero.choose_numbers(picture)
cards = {
    "side_by_side": lambda: show_side_by_side(wide, numbers),
    "costs": lambda: show_costs(readable, numbers),
    "batch": lambda: show_batch(readable),
}
of_longer_texts = {
    "empty": lambda: show_empty_row(readable),
    "reach": lambda: show_reach(readable),
    "one_pass": lambda: show_one_pass(tokens),
}
go_deeper(text, cards if is_short else cards | of_longer_texts)
show_one_sentence(text)
check_yourself(text, {"row": predict.a_row_under_a_mask, "window": predict.cells_of_a_window})
