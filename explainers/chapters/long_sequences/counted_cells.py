"""Pictures of cells that are counted: of longer texts, of sparse masks, of two sequences."""

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
import torch

from explainers.attention.tiled import tile_cells
from explainers.chapters.long_sequences import takeaway as taken
from explainers.chapters.long_sequences.matrix_sizes import (
    CELL_BYTES,
    CROSS,
    JOINED,
    LONG,
    SIDE,
    TOKENS,
    count_cells_by_way,
    count_matrix_bytes,
    count_row_bytes,
    count_skipped_tiles,
    make_sparse_rules,
    tabulate_sizes,
)
from explainers.charts.matrix import Matrix
from explainers.charts.theme import KEY_AXIS, QUERY_AXIS, Theme
from explainers.memory.sizes import format_size
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.number_controls import BrowserSlider
from explainers.ui.figure.chart import show_chart
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, Slider, draw_views, orient_panels
from explainers.ui.provenance import formula
from explainers.ui.text.numbers import write_percent

ASKED = 131_072
HEAD_DIM = 128
"""Of most models that run today."""
MEET = 4 * HEAD_DIM
"""Tokens at which the weights are as many as all else: n · n = 4 · n · d_k."""
SERIES = (N_("n² weights"), N_("Q, K, V, output"))
CPU = torch.device("cpu")
SIZE = format_size(count_matrix_bytes(ASKED))
SIZES = [format_size(count_matrix_bytes(ASKED) // part) for part in (1024, 32, 1)]
"""The weights of a long text, and what they might be."""


def name_long_text() -> dict[str, object]:
    """What a text says of the weights that are asked for."""
    return {"tokens": f"{ASKED:,}", "each": CELL_BYTES, "cells": f"{ASKED**2:,}"}


def list_sizes() -> str:
    """A line of a table for each length."""
    taken.take_cells(TOKENS)
    rows = [f"| {n:,} | {count:,} | {format_size(held)} |" for n, count, held in tabulate_sizes()]
    return "\n".join(rows)


def show_growth() -> None:
    """Two lines, one twice as steep as the other."""
    import pandas as pd

    from explainers.charts.curves import Axis, draw_curve

    lengths = [2**power for power in range(8, 21, 2)]
    points = [(n, count_matrix_bytes(n) / 2**20, SERIES[0], False) for n in lengths]
    points += [(n, count_row_bytes(n, HEAD_DIM) / 2**20, SERIES[1], False) for n in lengths]
    rows = pd.DataFrame(points, columns=["x", "y", "series", "reference"])
    alt = _("MiB against tokens, both axes in powers of 2: the weights' line is twice as steep.")
    axes = {"x": Axis(N_("tokens n"), is_logarithmic=True), "y": Axis("MiB", is_logarithmic=True)}
    origin = formula(_("n · n · {count} bytes", count=CELL_BYTES), CPU)
    show_chart(draw_curve, rows, alt, "growth", origin, series=SERIES, **axes)


@st.cache_data(show_spinner=False)
def count_tile_cells() -> dict[str, list[list[int]]]:
    """How many cells of each tile of a long text each mask allows."""
    sizes = LONG, LONG, SIDE, SIDE
    return {name: tile_cells(rule, *sizes).tolist() for name, rule in make_sparse_rules().items()}


ALL = (LONG // SIDE) ** 2
"""Tiles of a long text."""


def count_causal() -> tuple[int, int]:
    """Tiles that the causal mask skips, and that the strided one does, which allows fewer pairs."""
    found = list(count_tile_cells().values())
    causal, strided = (count_skipped_tiles(tiles)[2] for tiles in (found[1], found[-1]))
    return causal, strided


def show_skipped_tiles(queries_down: bool) -> str:
    """Every mask as its tiles, and a table as a text."""
    found = count_tile_cells()
    taken.take_masks(LONG, {str(name): count_skipped_tiles(tiles) for name, tiles in found.items()})
    panels = [_draw_tile_map(name, tiles) for name, tiles in found.items()]
    alt = _("Masks of a long text, a cell per tile: filled where it is computed.")
    origin = formula(_("masks of {tokens} tokens", tokens=f"{LONG:,}"), CPU)
    show_figure(Figure(orient_panels(panels, queries_down), alt), origin, "spared")
    rows = []
    for name, tiles in found.items():
        allowed, computed, left, of_all = count_skipped_tiles(tiles)
        spared_tiles = _("{count:,} of {all:,}", count=left, all=of_all)
        rows.append(
            f"| {_(name)} | {allowed:,} ({write_percent(allowed / LONG**2, 1)}) "
            f"| {computed:,} ({write_percent(computed / LONG**2, 1)}) "
            f"| {spared_tiles} |"
        )
    return "\n".join(rows)


def _draw_tile_map(name: str, tiles: list[list[int]]) -> Panel:
    """A 1 for each tile that is computed; blank where it is skipped."""
    computed = [[1.0 if count else None for count in line] for line in tiles]
    numbers = [str(place) for place in range(len(tiles))]
    _unused, _unused, skipped, count = count_skipped_tiles(tiles)
    axes = numbers, numbers, QUERY_AXIS, KEY_AXIS
    left = _("{left} of {all} tiles", left=count - skipped, all=count)
    matrix = Matrix(name, left, computed, *axes, kind="weights", blank=N_("skipped"), decimals=0)
    return Panel(name, matrix, small=True)


ASKED_LENGTHS = int(controls.cross_q.default), int(controls.cross_kv.default)
"""Queries and keys of the question about two sequences."""


def compare_cells(q_len: int, kv_len: int) -> str:
    """How many times as many cells the joined sequence has."""
    cross, joined = count_cells_by_way(q_len, kv_len).values()
    return write_times(joined / cross)


def write_times(number: float) -> str:
    """A factor, in words."""
    return N_("{number:,.1f} times", number=number)


def name_two_sequences(q_len: int, kv_len: int) -> tuple[dict[str, str], list[str]]:
    """What a text says of two sequences, and guesses of how many times more cells there are."""
    named = {"q": f"{q_len:,}", "kv": f"{kv_len:,}", "sum": f"{q_len + kv_len:,}"}
    return named, [write_times(number) for number in (1, 2, (q_len + kv_len) / kv_len)]


def show_two_sequences(template: str) -> None:
    """Both counts as bars, at any lengths of the two sliders, and the page's words about them."""
    q_slider, kv_slider = make_slider(controls.cross_q), make_slider(controls.cross_kv)
    figure = draw_views(q_slider, lambda place: draw_lengths(place, kv_slider.index, template))
    q_len = _list_lengths(controls.cross_q)[q_slider.index]
    kv_len = _list_lengths(controls.cross_kv)[kv_slider.index]
    taken.take_two_sequences(q_len, kv_len)
    amounts = count_cells_by_way(q_len, kv_len)
    files = partial(_draw_file, amounts), partial(_make_amounts, amounts)
    origin = formula(_("cells of one head and layer"), CPU)
    show_figure(replace(figure, slider=kv_slider), origin, "two", *files)


def draw_lengths(q_place: int, kv_place: int, template: str) -> Figure:
    """Two bars at one number of queries, with a frame for every number of keys."""
    q_len, kv_lens = _list_lengths(controls.cross_q)[q_place], _list_lengths(controls.cross_kv)
    frames = [
        [[count] for count in count_cells_by_way(q_len, kv_len).values()] for kv_len in kv_lens
    ]
    rows = [_(CROSS), _(JOINED)]
    matrix = Matrix(
        _("cells of one head and layer"), "", frames[kv_place], rows, [""], "", "", kind="amounts"
    )
    alt = _("Two bars: the cells of cross-attention, and of both sequences joined into one.")
    named = [name_cells(q_len, kv_len) for kv_len in kv_lens]
    panels = [Panel("two", matrix, frames=tuple(frames))]
    return Figure(panels, alt, template=template, named=named)


def make_slider(control: BrowserSlider) -> Slider:
    """Tokens of one of the two sequences."""
    labels, place = [f"{length:,}" for length in _list_lengths(control)], control()
    return Slider(control.label, labels, place, lambda turned: control.put(control.steps[turned]))


def _list_lengths(control: BrowserSlider) -> list[int]:
    return [int(step) for step in control.steps]


def name_cells(q_len: int, kv_len: int) -> dict[str, object]:
    """What the words below the bars name."""
    cross, joined = count_cells_by_way(q_len, kv_len).values()
    return {
        "q": f"{q_len:,}",
        "kv": f"{kv_len:,}",
        "cross": f"{cross:,}",
        "joined": f"{joined:,}",
        "times": compare_cells(q_len, kv_len),
    }


def _make_amounts(amounts: dict[str, int]) -> Any:
    from explainers.charts.bars import make_amount_rows  # the page needs no altair to start

    return make_amount_rows([(_(way), count) for way, count in amounts.items()])


def _draw_file(amounts: dict[str, int], theme: Theme) -> Any:
    from explainers.charts.bars import draw_bars

    return draw_bars(_make_amounts(amounts), theme, length=len(amounts), x_title=N_("cells"))
