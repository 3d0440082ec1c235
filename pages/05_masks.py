"""Who may look at whom: one matrix under many masks, what each lets through and what it costs."""

import streamlit as st

from explainers.attention import masks
from explainers.attention.receptive_field import cells, reach, window_reach
from explainers.attention.steps import hide, softmax
from explainers.chapters.common.choose_layer import choose_layer, offer_training
from explainers.chapters.common.number_words import bound_rounding
from explainers.chapters.common.score_matrix import FEWEST, Lab, count_changed_rows, of_words
from explainers.chapters.masks import changed_text, drawn_mask, masks_compared, takeaway
from explainers.chapters.masks.changed_text import draw_growing, list_next_words
from explainers.chapters.masks.masked_weights import ADDED, WAYS, mask_weights, measure_new_word
from explainers.chapters.masks.padded_batch import PAD, draw_batch, fill_batch
from explainers.chapters.masks.window_reach import NEVER, ask_reach, draw_reach, find_reach
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.figure.clickable_figure import explore_figure, show_clickable_figure
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.prediction import revealed
from explainers.ui.provenance import random_weights
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment
from explainers.ui.untrusted_text import verbatim

text = page.open_prose(__file__)


@fragment
def side_by_side(lab: Lab) -> None:
    """One matrix under every mask, where the probability went, and what each mask costs."""
    text("cells")
    if not is_short and not foretold(lab):
        return
    text("masks_seen")
    numbers = masks_compared.choose_numbers(words)
    if numbers["window"] > words:
        text("too_wide", width=numbers["window"], words=of_words(words))
    shown = mask_weights(lab.layer, numbers)
    picture, width = masks_compared.draw_masks(lab, numbers, shown)
    explore_figure(*picture[:2], lab.origin, "masks", picture.alt, slider=width, first="causal")
    show_source(hide, softmax)
    takeaway.take_masks(lab, numbers, shown)
    offer_training(lab.layer)
    if is_short:
        return
    word, lost, *_verdict = masks_compared.later_share(lab)
    text("moved", word=word, lost=lost)
    picture = masks_compared.draw_moved(lab, numbers, shown)
    show_clickable_figure(*picture[:2], lab.origin, "moved", picture.alt)
    text("moved_seen")
    rows = masks_compared.cost_rows(words, numbers)
    text("costs", words=words, length=f"{masks_compared.LONG:,}", rows=rows)


def foretold(lab: Lab) -> bool:
    """Two questions before any picture, because the first picture answers both."""
    options, left = masks_compared.cell_options(words), f"{cells(lab.mask(masks.causal))}"
    knows_cells = revealed(text, "cells", options, left, words=words, pairs=words**2)
    word, lost, options, total = masks_compared.later_share(lab)
    knows_sum = revealed(text, "moved", options, total, word=word, lost=lost)
    return knows_sum and knows_cells


@fragment
def by_hand(lab: Lab) -> None:
    """A mask of the reader's own, and one that is refused."""
    text("draw")
    drawing, drawn_for = drawn_mask.read_drawing(lab), controls.drawn_cells.count_words(words)
    if drawn_for != words:
        text("drawn_for_another", drawn=of_words(drawn_for), words=words)
    drawn_mask.offer_starts()
    takeaway.take_drawing(lab, drawing)
    if drawing.empty_row is not None:
        row = drawing.empty_row
        drawn_mask.warn_of_empty_row(drawing)
        text("refused", row=row, word=verbatim(lab.tokens[row]), share=drawing.share)
    picture = drawn_mask.draw_drawing(lab, drawing)
    acts = drawn_mask.list_clicks(words)
    show_clickable_figure(*picture[:2], lab.origin, "drawing", picture.alt, acts=acts)


@fragment
def before_or_after(lab: Lab) -> None:
    """What is hidden too late, and what is hidden altogether."""
    leak, last, earlier = changed_text.find_leak(lab), verbatim(lab.tokens[-1]), words - 1
    after, before = (leak.changed_rows(way) for way in WAYS)
    text("leak", last=last, new=verbatim(leak.new), earlier=earlier)
    options = "0", "1", f"{earlier}"
    if revealed(text, "leak", options, f"{after}", last=last, earlier=earlier, kept=before):
        takeaway.take_leak(lab, leak)
        show_figure(changed_text.draw_leak(lab, leak), lab.origin, "leak")
        row, by = leak.least_moved()
        text("leak_seen", least=verbatim(lab.tokens[row]), by=by)
        show_source(*WAYS.values())
    row, printed, refusal = drawn_mask.empty_a_row(lab)
    text("empty_row", word=verbatim(lab.tokens[row]), row=row)
    st.code(printed, wrap_lines=True)
    text("empty_row_refused", said=refusal)
    show_source(masks.build)


@fragment
def in_layers(lab: Lab) -> None:
    """How far windows reach when they are"""
    text("reach")
    width = int(controls.reach_window())
    answer, named = ask_reach(lab.tokens, width)
    if revealed(text, "reach", ("1", "2", "3", NEVER), answer, **named):
        text("reach_seen")
        found = find_reach(words, width)
        takeaway.take_reach(found)
        show_figure(draw_reach(lab, found), found.origin, "reach")
        show_source(reach, window_reach)


@fragment
def one_way(tokens: tuple[str, ...]) -> None:
    """What a model gains that never looks ahead."""
    text("one_pass", count=words)
    st.code(list_next_words(tokens), language=None, wrap_lines=True)
    found = measure_new_word(tokens, seed := page.read_seed())
    full, causal = (count_changed_rows(change.key) for change in found.values())
    text("growing", added=verbatim(ADDED), last=verbatim(tokens[-1]))
    if revealed(text, "growing", ("0", "1", f"{words}"), f"{full}", rows=words, causal=causal):
        takeaway.take_added_word(tokens, seed, found)
        origin = random_weights(seed, found["full"].key.device)
        show_figure(draw_growing(tokens, found), origin, "growing")


text("question")
layer = choose_layer(choose_text().tokens, has_mask=False, has_sizes=False)
choices, words = Lab(layer, page.has_queries_down()), len(layer.tokens)
is_short = words < FEWEST
if is_short:
    text("too_short", words=of_words(words), fewest=FEWEST)
side_by_side(choices)
by_hand(choices)
batch = fill_batch(choices)
text("batch", length=max(batch.lengths), moved=bound_rounding(batch.compare()))
if layer.learned:
    text("unknown_filling", filling=verbatim(PAD))
takeaway.take_batch(batch)
show_figure(draw_batch(choices, batch), choices.origin_with(PAD), "batch")
if not is_short:
    before_or_after(choices)
    in_layers(choices)
    one_way(choices.tokens)
    text("notice")
