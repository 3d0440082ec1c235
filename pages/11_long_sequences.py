"""Long sequences: weights that never exist all at once, a softmax in blocks, and skipped tiles."""

from functools import partial

import streamlit as st

from explainers.attention.online_softmax import read_block, read_row
from explainers.attention.tiled import read_tile, tile_cells, tiled_attention
from explainers.chapters.common.score_matrix import FEWEST, Lab, write_word_count
from explainers.chapters.common.sentence_reading import choose_reading, choose_sentence, show_reader
from explainers.chapters.exercises import predict
from explainers.chapters.long_sequences import hero, measurement, online_row, tile_figure
from explainers.chapters.long_sequences.tile_figure import LONG, SIDE, TiledSentence
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.hero import show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.prediction import ask_veiled, revealed
from explainers.ui.source import show_functions_of, show_source
from explainers.ui.takeaway_files import hand_over
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def show_how() -> None:
    """The three numbers that are kept of a row, block by block."""
    text("how")
    online_row.show_row(online_row.choose_row(lab))
    show_source(read_row, read_block)


def show_corrections() -> None:
    """How often a block brings a larger score than all before it."""
    text("correction")
    row = online_row.read_example(lab)
    named = online_row.name_row(row)
    options = [f"{n}" for n in range(min(len(row.steps), 4))]
    if ask_veiled(text, "row", f"{row.corrected}", options, **named):
        text("corrections", rows=online_row.list_corrections(row), **named)


def show_tiles_by_hand(rule: str) -> None:
    """Sides of a tile to choose, tiles that are skipped, and the code of a CPU and of a GPU."""
    with st.container(horizontal=True):
        sides = int(controls.tile_rows()), int(controls.tile_columns())
    tiles = TiledSentence.cut(lab, rule, sides)
    named = tile_figure.name_tiles(tiles)
    if tiles.blocks != sides:
        text("tiles_larger", **named)
    tile_figure.show_tiles(tiles)
    text("tiles_seen", **named)
    section, of_kernel = measurement.check_kernel()
    text(section, **of_kernel)
    for_cpu, for_gpu = st.columns(2)
    with for_cpu:
        show_source(tiled_attention, read_tile)
    with for_gpu:
        show_functions_of(measurement.KERNEL_FILE, *measurement.KERNEL_CODE, that=measurement.RUNS)


def show_skipped() -> None:
    """What n² takes, and what masks skip: a mask with few cells need not skip a tile."""
    text("spared")
    measurement.show_measuring(partial(text, "measured"))
    text("spared_tiles", tokens=f"{LONG:,}", side=SIDE)
    # The strided mask allows fewer pairs.
    _all, causal, *_unused, strided = tile_figure.count_tiles_by_mask(LONG).values()
    options = ["0", *(f"{causal[-1] // part}" for part in (2, 4))]
    if ask_veiled(text, "spared", f"{strided[2]}", options, causal=causal[2], side=SIDE):
        tile_figure.show_skipped_tiles(lab.queries_down)
        text("spared_seen")
    show_source(tile_cells)


@fragment
def show_lesson() -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    show_hero(text, picture := hero.make_hero(text, lab), "sweep")

    def find_rule() -> str:
        return picture.chosen(controls.tile_mask)

    show_reader(reading)
    inputs = TiledSentence.cut(lab, find_rule(), hero.BLOCKS).inputs
    title = _("Attention in tiles, the first picture")
    hand_over("sweep", title, tile_figure.compare_tiles, **inputs)
    cards = {"spared": show_skipped}
    if words < FEWEST:
        text("too_short", words=write_word_count(words), fewest=FEWEST)
    else:
        row = online_row.read_example(lab)
        named = online_row.name_row(row)
        if revealed(text, "exact", online_row.ANSWERS, online_row.answer_exact(row), **named):
            online_row.show_difference(row)
            text("exact_seen", **named)
        show_how()
        cards = {"row": show_corrections, "tiles": lambda: show_tiles_by_hand(find_rule())} | cards
    go_deeper(text, cards)


text("question")
reading = choose_reading(choose_sentence())
lab, words = Lab(reading.layer(), page.has_queries_down()), len(reading.tokens)
show_lesson()
show_one_sentence(text)
check_yourself(text, {"correction": predict.a_correction, "growth": predict.growth_of_the_weights})
