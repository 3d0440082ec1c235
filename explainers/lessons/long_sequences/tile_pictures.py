"""Tiles on the sentence, and what masks spare on a long text."""

from collections.abc import Callable

import streamlit as st
import torch

from explainers import working
from explainers.attention import masks
from explainers.attention.masks import Rule
from explainers.attention.steps import hide, softmax
from explainers.attention.tiled import read_tile, tile_cells, tiled_attention
from explainers.charts.matrix import Matrix
from explainers.charts.theme import KEY_AXIS, QUERY_AXIS
from explainers.lessons.arithmetic import arithmetic_of
from explainers.lessons.long_sequences.tiles import HELD, ORDER, Tiles
from explainers.lessons.mask_lab import Lab
from explainers.ui import length_controls
from explainers.ui.clicks import show_clickable
from explainers.ui.figure import show_figure
from explainers.ui.panels import Cell, Figure, Panel, Slider, oriented
from explainers.ui.predict import revealed
from explainers.ui.prose import Prose
from explainers.ui.provenance import formula
from explainers.ui.source import show_source
from explainers.working import Working

LONG, SIDE, WIDTH, SINKS = 4_096, 256, 512, 4
"""Tokens of a long text, of a side of its tiles, of a window; the first tokens that all may see."""
SHARES = {"none": 0.0, "about a quarter": 0.125, "almost half": 0.375, "more than half": 0.5}
"""Answers, and the least share of the tiles that each means."""


def show_tiles(text: Prose, lab: Lab, rule: str, asked: tuple[int, int]) -> None:
    """The order in which tiles are read, the only scores that exist, the output as it grows."""
    tiles = Tiles(lab, masks.RULES[rule], asked)
    rows, columns = tiles.blocks
    if tiles.blocks != asked:
        text("tiles_larger", words=len(lab.tokens), rows=rows, columns=columns)
    control, count = length_controls.tile, len(tiles.steps)
    place = min(control(), count - 1)
    labels = [f"{n + 1} of {count}" for n in range(count)]
    slider = Slider(control.label, labels, place, lambda turned: control.put(turned + 1), True)
    alt = "The tiles in their order, the scores of the tile at the slider, and the output so far."
    explain = _arithmetic(tiles, place + 1)
    show_clickable(tiles.panels(place + 1), explain, lab.origin, "tiles", alt, slider)
    text(
        "tiles_seen",
        difference=f"{tiles.difference:.2g}",
        most=rows * columns,
        all=len(lab.tokens) ** 2,
        rows=rows,
        columns=columns,
        count=tiles.count,
        read=len(tiles.steps),
    )
    show_source(tiled_attention, read_tile)


def _arithmetic(tiles: Tiles, read: int) -> Callable[[Cell], Working]:
    lab = tiles.lab
    of_scores = arithmetic_of(lab.one_head)

    def explain(cell: Cell) -> Working:
        i, j, what = cell.row, cell.column, f"{cell.panel}[{cell.row}, {cell.column}]"
        if cell.panel == HELD:
            return of_scores(Cell("scores", i, j))
        if cell.panel == ORDER:
            tile = tiles.order()[i][j]
            line = "nobody in this tile may look at anybody: it is skipped"
            return working.given(tile or 0.0, what, f"tile {tile:g}" if tile else line)
        seen = tiles.seen(read)
        if not seen[i].any():
            return working.given(0.0, what, f"{what} is blank: this row has read nothing yet.")
        weights = softmax(hide(lab.scores, seen)[i])
        value = tiles.output(read)[i, j].item()
        return working.dot_product(weights.tolist(), lab.views.value[:, j].tolist(), value, what)

    return explain


def sparse_rules() -> dict[str, Rule]:
    """Masks for long texts, by what they let through."""
    window = masks.sliding_window(WIDTH)
    sinks = masks.Rule(lambda query_pos, key_pos: (key_pos < SINKS) | window(query_pos, key_pos))
    strided = masks.Rule(
        lambda query_pos, key_pos: (query_pos - key_pos < SIDE) | (key_pos % SIDE == SIDE - 1)
    )
    return {
        "full": masks.full,
        "causal": masks.causal,
        f"causal, window of {WIDTH}": window,
        f"the same, and the first {SINKS} tokens": masks.causal & sinks,
        f"causal: the last {SIDE}, and every {SIDE}th": masks.causal & strided,
    }


@st.cache_data(show_spinner=False)
def tiles_of() -> dict[str, list[list[int]]]:
    """How many cells of each tile of a long text each mask allows."""
    sizes = LONG, LONG, SIDE, SIDE
    return {name: tile_cells(rule, *sizes).tolist() for name, rule in sparse_rules().items()}


def spared(tiles: list[list[int]]) -> tuple[int, int, int, int]:
    """Cells that are allowed, cells that tiles compute, tiles skipped, tiles there are."""
    counts = [count for line in tiles for count in line]
    skipped = counts.count(0)
    return sum(counts), (len(counts) - skipped) * SIDE**2, skipped, len(counts)


def show_spared(text: Prose, queries_down: bool) -> None:
    """Guess what causal tiles spare, then every mask as its tiles, and a table."""
    tokens, found = f"{LONG:,}", tiles_of()
    text("spared", tokens=tokens, side=SIDE)
    _, _, skipped, count = spared(found["causal"])
    answer = next(name for name, least in reversed(SHARES.items()) if skipped >= least * count)
    rest = f"{1 - skipped / count:.1%}"
    if not revealed(text, "spared", list(SHARES), answer, skipped=skipped, count=count, rest=rest):
        return
    panels = [_map(name, tiles) for name, tiles in found.items()]
    alt = "Masks of a long text, a cell per tile: filled where it is computed."
    origin = formula(f"masks of {tokens} tokens", torch.device("cpu"))
    show_figure(Figure(oriented(panels, queries_down), alt), origin, "spared")
    rows = []
    for name, tiles in found.items():
        allowed, computed, left, of_all = spared(tiles)
        rows.append(
            f"| {name} | {allowed:,} | {allowed / LONG**2:.1%} | {computed:,} "
            f"| {computed / LONG**2:.1%} | {left:,} of {of_all:,} |"
        )
    text("spared_seen", rows="\n".join(rows), side=SIDE)
    show_source(tile_cells)


def _map(name: str, tiles: list[list[int]]) -> Panel:
    """A 1 for each tile that is computed; blank where it is skipped."""
    computed = [[1.0 if count else None for count in line] for line in tiles]
    numbers = [str(place) for place in range(len(tiles))]
    _, _, skipped, count = spared(tiles)
    axes = numbers, numbers, QUERY_AXIS, KEY_AXIS
    left = f"{count - skipped} of {count} tiles"
    matrix = Matrix(name, left, computed, *axes, kind="weights", blank="skipped", places=0)
    return Panel(name, matrix, small=True)
