"""Long sequences: n², a softmax in blocks, attention in tiles, and what this machine measures."""

import streamlit as st

from explainers.chapters.common.mask_names import choose_mask
from explainers.chapters.common.score_matrix import FEWEST, Lab, of_words
from explainers.chapters.long_sequences.counted_cells import (
    show_skipped_tiles,
    show_squares,
    show_two,
)
from explainers.chapters.long_sequences.measurement_job import show_measuring
from explainers.chapters.long_sequences.online_row import show_row
from explainers.chapters.long_sequences.tile_figure import show_tiles
from explainers.device import choose_device, describe_device
from explainers.toys.layers import draw_layer
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.text.language import fragment

text = page.open_prose(__file__)


@fragment
def row(lab: Lab) -> None:
    """A row of scores that is never whole."""
    text("row")
    with st.container(horizontal=True):
        word = controls.reading_word(0, len(lab.tokens) - 1)
        block = int(controls.kv_block())
    show_row(text, lab, word, block)


@fragment
def tiles(lab: Lab) -> None:
    """Many rows at once, and masks that let tiles be skipped."""
    text("tiles")
    with st.container(horizontal=True):
        rule = choose_mask(controls.tile_mask)
        sides = int(controls.tile_rows()), int(controls.tile_columns())
    show_tiles(text, lab, rule, sides)


@fragment
def measured() -> None:
    """Plain, tiled and fused attention on this machine."""
    text("measure", device=describe_device(choose_device()))
    show_measuring(text, controls.measured_length())


@fragment
def two_sequences() -> None:
    """Looking at another sequence, or joining it."""
    text("two")
    with st.container(horizontal=True):
        q_len, kv_len = controls.cross_q(), controls.cross_kv()
    show_two(text, q_len, kv_len)


text("question")
show_squares(text)
sizes = controls.d_model.default, 1, controls.head_dim.default
layer = draw_layer(choose_text().tokens, *sizes, "full", page.read_seed())
choices = Lab(layer, page.has_queries_down())
if len(choices.tokens) < FEWEST:
    text("too_short", words=of_words(len(choices.tokens)), fewest=FEWEST)
else:
    row(choices)
    tiles(choices)
show_skipped_tiles(text, choices.queries_down)
measured()
two_sequences()
text("notice")
