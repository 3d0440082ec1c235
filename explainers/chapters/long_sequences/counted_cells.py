"""Tiles of sparse masks on a long text, counted and drawn."""

import streamlit as st
import torch

from explainers.attention.tiled import tile_cells
from explainers.chapters.long_sequences import takeaway as taken
from explainers.chapters.long_sequences.matrix_sizes import (
    LONG,
    SIDE,
    count_skipped_tiles,
    make_sparse_rules,
)
from explainers.charts.matrix import Matrix
from explainers.charts.theme import KEY_AXIS, QUERY_AXIS
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.provenance import formula
from explainers.ui.text.numbers import write_percent

CPU = torch.device("cpu")


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


def show_skipped_tiles(queries_down: bool) -> None:
    """Every mask as its tiles: how many are computed, and how many pairs it allows."""
    found = count_tile_cells()
    taken.take_masks(LONG, {str(name): count_skipped_tiles(tiles) for name, tiles in found.items()})
    panels = [_draw_tile_map(name, tiles) for name, tiles in found.items()]
    alt = _("Masks of a long text, a cell per tile: filled where it is computed.")
    origin = formula(_("masks of {tokens} tokens", tokens=f"{LONG:,}"), CPU)
    show_figure(Figure(orient_panels(panels, queries_down), alt), origin, "spared")


def _draw_tile_map(name: str, tiles: list[list[int]]) -> Panel:
    """A 1 for each tile that is computed; blank where it is skipped."""
    computed = [[1.0 if count else None for count in line] for line in tiles]
    numbers = [str(place) for place in range(len(tiles))]
    allowed, _unused, skipped, count = count_skipped_tiles(tiles)
    axes = numbers, numbers, QUERY_AXIS, KEY_AXIS
    told = _(
        "{share} of the pairs, {left} of {all} tiles",
        share=write_percent(allowed / LONG**2, 1),
        left=count - skipped,
        all=count,
    )
    matrix = Matrix(name, told, computed, *axes, kind="weights", blank=N_("skipped"), decimals=0)
    return Panel(name, matrix, small=True)
