"""Long sequences: weights that never exist all at once, a softmax in blocks, and skipped tiles."""

import streamlit as st

from explainers.attention import masks
from explainers.attention.online_softmax import read_block, read_row
from explainers.attention.scaled_dot_product import attention
from explainers.attention.tiled import read_tile, tile_cells, tiled_attention
from explainers.chapters.common.score_matrix import FEWEST, Lab, write_word_count
from explainers.chapters.exercises import predict
from explainers.chapters.long_sequences import (
    counted_cells,
    hero,
    matrix_sizes,
    measurement,
    measurement_job,
    online_row,
    takeaway,
    tile_figure,
)
from explainers.chapters.long_sequences.matrix_sizes import LONG, SIDE
from explainers.device import choose_device, describe_device
from explainers.toys.layers import draw_layer
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.figure.hero import show_hero
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.page_parts.veil import ask_veiled
from explainers.ui.prediction import revealed
from explainers.ui.source import show_functions_of, show_source
from explainers.ui.text.language import fragment

text = page.open_prose(__file__)


@fragment
def ask_exact() -> None:
    """Is a softmax of a row that is forgotten block by block still exact?"""
    row = online_row.read_example(lab)
    named = online_row.name_row(row)
    if revealed(text, "exact", online_row.ANSWERS, online_row.answer_exact(row), **named):
        show_figure(online_row.draw_difference(row), lab.origin, "exact")
        text("exact_seen", **named)


@fragment
def show_how() -> None:
    """The three numbers that are kept of a row, block by block."""
    text("how")
    with st.container(horizontal=True):
        word, block = controls.reading_word(0, words - 1), int(controls.kv_block())
    online_row.show_row(online_row.Row.of(lab, word, block))
    show_source(read_row, read_block)


def show_corrections() -> None:
    """How often a block brings a larger score than all before it."""
    text("correction")
    row = online_row.read_example(lab)
    named = online_row.name_row(row)
    options = [f"{n}" for n in range(min(len(row.steps), 4))]
    ask_veiled(text, "row", f"{row.corrected}", options, **named)
    text("corrections", rows=online_row.list_corrections(row), **named)


def show_tiles_by_hand() -> None:
    """Sides of a tile to choose, tiles that are skipped, and the code of a CPU and of a GPU."""
    text("tiles")
    with st.container(horizontal=True):
        sides = int(controls.tile_rows()), int(controls.tile_columns())
    tiles = tile_figure.TiledSentence(lab, masks.RULES[rule], sides)
    named = tile_figure.name_tiles(tiles, rule)
    if tiles.blocks != sides:
        text("tiles_larger", **named)
    ask_veiled(text, "tiles", f"{named['skipped']}", tile_figure.list_guesses(tiles), **named)
    tile_figure.show_tiles(tiles, rule)
    text("tiles_seen", **named)
    show_source(tiled_attention, read_tile)
    section, of_kernel = measurement.check_kernel()
    text("kernel")
    text(section, **of_kernel)
    show_functions_of(measurement.KERNEL_FILE, *measurement.KERNEL_CODE, that=measurement.RUNS)


def show_skipped() -> None:
    """What masks skip in a long text: a mask with few cells need not skip a tile."""
    text("spared", tokens=f"{LONG:,}", side=SIDE)
    causal, strided = counted_cells.count_causal()
    options = ["0", *(f"{counted_cells.ALL // part}" for part in (2, 4))]
    ask_veiled(text, "spared", f"{strided}", options, causal=causal, side=SIDE)
    text("spared_seen", rows=counted_cells.show_skipped_tiles(lab.queries_down), side=SIDE)
    show_source(tile_cells)


@fragment
def show_measured() -> None:
    """Plain, tiled and fused attention on this machine."""
    text("measure", device=describe_device(choose_device()))
    measurement_job.show_measuring(
        lambda found: text("measured", **found), controls.measured_length()
    )
    show_source(attention, tiled_attention)


def show_growth() -> None:
    """What grows with n, and what with its square."""
    text("squares")
    named = counted_cells.name_long_text()
    ask_veiled(text, "squares", counted_cells.SIZE, counted_cells.SIZES, **named)
    text("squares_table", rows=counted_cells.list_sizes(), each=named["each"])
    text("squares_seen", meet=counted_cells.MEET, d_k=counted_cells.HEAD_DIM)
    counted_cells.show_growth()
    show_source(matrix_sizes.count_matrix_bytes, matrix_sizes.count_row_bytes)


@fragment
def show_two_texts() -> None:
    """Looking at another sequence, or joining it."""
    text("two")
    with st.container(horizontal=True):
        q_len, kv_len = controls.cross_q(), controls.cross_kv()
    named, options = counted_cells.name_two_sequences(q_len, kv_len)
    ask_veiled(text, "two", counted_cells.compare_cells(q_len, kv_len), options, **named)
    counted_cells.show_two_sequences(q_len, kv_len)
    text("two_seen", **named)
    show_source(matrix_sizes.count_matrix_cells)


text("question")
tokens = choose_text().tokens
words, sizes = len(tokens), (controls.d_model.default, 1, controls.head_dim.default)
lab = Lab(draw_layer(tokens, *sizes, "full", page.read_seed()), page.has_queries_down())
show_hero(text, picture := hero.make_hero(text, lab), "sweep")
rule = picture.chosen(controls.tile_mask)
takeaway.take_sweep(lab, rule, hero.cut_tiles(lab, rule).blocks)
of_any_text = {"spared": show_skipped, "measure": show_measured, "squares": show_growth}
if words < FEWEST:
    text("too_short", words=write_word_count(words), fewest=FEWEST)
    go_deeper(text, of_any_text | {"two": show_two_texts})
else:
    ask_exact()
    show_how()
    of_words_read = {"row": show_corrections, "tiles": show_tiles_by_hand}
    go_deeper(text, of_words_read | of_any_text | {"two": show_two_texts})
show_one_sentence(text)
check_yourself(text, {"correction": predict.a_correction, "growth": predict.growth_of_the_weights})
