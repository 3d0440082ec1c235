"""What masks spare on a long text: whole tiles, or nothing."""

import streamlit as st
import torch

from explainers.attention.tiled import tile_cells
from explainers.chapters.long_sequences import takeaway as taken
from explainers.chapters.long_sequences.sparse_masks import LONG, SIDE, spared, sparse_rules
from explainers.charts.matrix import Matrix
from explainers.charts.theme import KEY_AXIS, QUERY_AXIS
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.page import Prose
from explainers.ui.predict import revealed
from explainers.ui.provenance import formula
from explainers.ui.source import show_source

SHARES = {
    N_("none"): 0.0,
    N_("about a quarter"): 0.125,
    N_("almost half"): 0.375,
    N_("more than half"): 0.5,
}
"""Answers, and the least share of the tiles that each means."""


@st.cache_data(show_spinner=False)
def tiles_of() -> dict[str, list[list[int]]]:
    """How many cells of each tile of a long text each mask allows."""
    sizes = LONG, LONG, SIDE, SIDE
    return {name: tile_cells(rule, *sizes).tolist() for name, rule in sparse_rules().items()}


def show_spared(text: Prose, queries_down: bool) -> None:
    """Guess what causal tiles spare, then every mask as its tiles, and a table."""
    tokens, found = f"{LONG:,}", tiles_of()
    text("spared", tokens=tokens, side=SIDE)
    _unused, _unused, skipped, count = spared(found["causal"])
    answer = next(name for name, least in reversed(SHARES.items()) if skipped >= least * count)
    rest = f"{1 - skipped / count:.1%}"
    if not revealed(text, "spared", list(SHARES), answer, skipped=skipped, count=count, rest=rest):
        return
    taken.masks_of_long_text(LONG, {str(name): spared(tiles) for name, tiles in found.items()})
    panels = [_map(name, tiles) for name, tiles in found.items()]
    alt = _("Masks of a long text, a cell per tile: filled where it is computed.")
    origin = formula(_("masks of {tokens} tokens", tokens=tokens), torch.device("cpu"))
    show_figure(Figure(orient_panels(panels, queries_down), alt), origin, "spared")
    rows = []
    for name, tiles in found.items():
        allowed, computed, left, of_all = spared(tiles)
        spared_tiles = _("{count:,} of {all:,}", count=left, all=of_all)
        rows.append(
            f"| {_(name)} | {allowed:,} ({allowed / LONG**2:.1%}) "
            f"| {computed:,} ({computed / LONG**2:.1%}) "
            f"| {spared_tiles} |"
        )
    text("spared_seen", rows="\n".join(rows), side=SIDE)
    show_source(tile_cells)


def _map(name: str, tiles: list[list[int]]) -> Panel:
    """A 1 for each tile that is computed; blank where it is skipped."""
    computed = [[1.0 if count else None for count in line] for line in tiles]
    numbers = [str(place) for place in range(len(tiles))]
    _unused, _unused, skipped, count = spared(tiles)
    axes = numbers, numbers, QUERY_AXIS, KEY_AXIS
    left = _("{left} of {all} tiles", left=count - skipped, all=count)
    matrix = Matrix(name, left, computed, *axes, kind="weights", blank=N_("skipped"), decimals=0)
    return Panel(name, matrix, small=True)
