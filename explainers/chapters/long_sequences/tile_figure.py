"""Attention tile by tile on the sentence, and the tiles that masks of a long text skip."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise
from math import ceil
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.attention import masks
from explainers.attention.online_softmax import begin
from explainers.attention.rules import Rule
from explainers.attention.scaled_dot_product import attention
from explainers.attention.single_head import Projections, project
from explainers.attention.steps import hide, softmax
from explainers.attention.tiled import positions, read_tile, tile_cells, tiled_attention
from explainers.chapters.common.score_matrix import Lab
from explainers.chapters.long_sequences import measurement
from explainers.chapters.long_sequences.online_row import choose_step
from explainers.charts.matrix import Matrix, Values, find_largest, make_pair_matrix
from explainers.charts.theme import FEATURE_AXIS, KEY_AXIS, QUERY_AXIS
from explainers.messages import N_
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.linked_matrices import show_clickable_figure, show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel, orient_panels
from explainers.ui.page import Prose
from explainers.ui.prediction import ask_veiled
from explainers.ui.provenance import formula
from explainers.ui.source import show_functions_of, show_source
from explainers.ui.takeaway_files import hand_over
from explainers.ui.text.numbers import bound_rounding, write_percent

MOST_SIDE = 6
"""Tiles on a side that can still be followed, and sent with a picture for each."""
ORDER, HELD, DONE = N_("order of tiles"), N_("scores in memory"), N_("output so far")


LONG, SIDE, WIDTH = 4_096, 256, 512
"""Tokens of a long text, of a side of its tiles, of a window."""


def make_sparse_rules() -> dict[str, Rule]:
    """Masks for long texts, by what they let through."""
    window = masks.sliding_window(WIDTH)
    strided = masks.Rule(
        lambda query_pos, key_pos: (query_pos - key_pos < SIDE) | (key_pos % SIDE == SIDE - 1)
    )
    return {
        N_("full"): masks.full,
        N_("causal"): masks.causal,
        N_("causal, window of {width}", width=WIDTH): window,
        N_("causal: the last {side}, and every {side}th", side=SIDE): masks.causal & strided,
    }


@cache
def count_tile_cells(length: int) -> dict[str, Tensor]:
    """How many cells of each tile of a long text each mask allows."""
    sizes = length, length, SIDE, SIDE
    return {name: tile_cells(rule, *sizes) for name, rule in make_sparse_rules().items()}


def count_tiles_by_mask(length: int) -> dict[str, tuple[int, ...]]:
    """Of each mask: cells allowed, cells computed, tiles skipped, tiles there are."""
    counts: dict[str, tuple[int, ...]] = {}
    for name, tiles in count_tile_cells(length).items():
        skipped = int((tiles == 0).sum())
        computed = (tiles.numel() - skipped) * SIDE**2
        counts[str(name)] = int(tiles.sum()), computed, skipped, tiles.numel()
    return counts


@dataclass(frozen=True)
class TileStep:
    """A tile that was read: its queries and keys, and what its queries know then."""

    queries: slice
    keys: slice
    output: Tensor


@dataclass(frozen=True)
class TileReading:
    """Attention in tiles of so many queries and keys, under a rule, written down tile by tile."""

    views: Projections
    rule: Rule
    blocks: tuple[int, int]

    @cached_property
    def steps(self) -> list[TileStep]:
        """What `tiled_attention` does."""
        query, key, value = self.views
        length, (q_block, kv_block) = len(query), self.blocks
        query_pos, key_pos = (p.to(query.device) for p in positions(length, length, *self.blocks))
        steps = []
        for i in range(0, length, q_block):
            rows = slice(i, min(i + q_block, length))
            running = begin(query[rows], value)
            for j in range(0, length, kv_block):
                columns = slice(j, min(j + kv_block, length))
                mask = self.rule(query_pos[rows], key_pos[:, columns])
                if mask.any():
                    running = read_tile(running, query[rows], key[columns], value[columns], mask)
                    steps.append(TileStep(rows, columns, running.output))
        return steps

    def compute_output(self, read: int) -> Tensor:
        """What is known after so many tiles; a row that has read nothing is not a number."""
        output = torch.full_like(self.views.value, torch.nan)
        for step in self.steps[:read]:
            output[step.queries] = step.output
        return output


Computed = dict[str, Tensor]


def read_in_tiles(layer: Layer, rule: str, q_block: int, kv_block: int, tiles: int) -> Computed:
    """The output after some tiles, and after all of them."""
    views, allowed = project(layer.x, layer.head()), masks.RULES[rule]
    reading = TileReading(views, allowed, (q_block, kv_block))
    tiled = tiled_attention(*views, allowed, q_block, kv_block)
    return {"output so far": reading.compute_output(tiles), "tiled": tiled}


def compare_tiles(layer: Layer, rule: str, q_block: int, kv_block: int) -> Computed:
    """The output after all tiles, and by `attention()`."""
    views, allowed = project(layer.x, layer.head()), masks.RULES[rule]
    mask = masks.build(allowed, len(layer.x), len(layer.x)).to(layer.x.device)
    tiled = tiled_attention(*views, allowed, q_block, kv_block)
    return {"tiled": tiled, "attention": attention(*views, mask).output}


@dataclass(frozen=True)
class TiledSentence(TileReading):
    """A sentence that is read so, under a mask of the table."""

    lab: Lab
    mask: str

    @classmethod
    def cut(cls, lab: Lab, mask: str, sides: tuple[int, int]) -> "TiledSentence":
        """Small tiles of a long text would be too many, and none is larger than the text."""
        words = len(lab.tokens)
        least = ceil(words / MOST_SIDE)
        q_block, kv_block = (min(max(side, least), words) for side in sides)
        return cls(lab.views, masks.RULES[mask], (q_block, kv_block), lab, mask)

    @property
    def inputs(self) -> dict[str, Any]:
        """What computes it again."""
        q_block, kv_block = self.blocks
        return {
            "layer": self.lab.layer,
            "rule": self.mask,
            "q_block": q_block,
            "kv_block": kv_block,
        }

    @property
    def count(self) -> int:
        """How many tiles there are, read or not."""
        rows, columns = (ceil(len(self.lab.tokens) / side) for side in self.blocks)
        return rows * columns

    def mark_seen(self, read: int) -> Tensor:
        """The pairs that were looked at in so many tiles."""
        mask = self.lab.mask(self.rule)
        seen = torch.zeros_like(mask)
        for step in self.steps[:read]:
            seen[step.queries, step.keys] = mask[step.queries, step.keys]
        return seen

    def number_cells(self) -> Values:
        """On each cell the number of its tile; blank where none is read."""
        length = len(self.lab.tokens)
        numbers: list[list[float | None]] = [[None] * length for _unused in range(length)]
        for count, step in enumerate(self.steps, start=1):
            for line in numbers[step.queries]:
                line[step.keys] = [count] * (step.keys.stop - step.keys.start)
        return numbers

    def make_panels(self, read: int) -> list[Panel]:
        """The picture after so many tiles, with a frame for every number of them."""
        tokens, count = self.lab.tokens, range(1, len(self.steps) + 1)
        seen = [self.mark_seen(n) for n in (0, *count)]
        held = tuple(  # the scores of the tile that was read last: there are no others
            blank_unknown(self.lab.scores.masked_fill(before | ~now, torch.nan))
            for before, now in pairwise(seen)
        )
        done = tuple(blank_unknown(self.compute_output(n)) for n in count)
        features = [str(n) for n in range(self.lab.views.value.shape[1])]
        tiles = _(
            "1 is read first; in the end {read} of {all} tiles are read",
            read=len(self.steps),
            all=self.count,
        )
        order = replace(make_pair_matrix(ORDER, tiles, self.number_cells(), tokens), decimals=0)
        # A colour means the same number in every frame.
        scores = make_pair_matrix(
            HELD, _("scores of one tile, and no more"), held[read - 1], tokens
        )
        scores = replace(scores, limit=find_largest(self.lab.scores.tolist()))
        axes = tokens, features, QUERY_AXIS, FEATURE_AXIS
        output = Matrix(DONE, _("the values read so far, mixed"), done[read - 1], *axes)
        output = replace(output, limit=find_largest(self.lab.views.value.tolist()))
        panels = [
            Panel(ORDER, order),
            Panel(HELD, scores, frames=held),
            Panel(DONE, output, frames=done),
        ]
        return orient_panels(panels, self.lab.queries_down)


def blank_unknown(values: Tensor) -> Values:
    """Numbers, and None for what is not a number."""
    return [[None if v != v else v for v in line] for line in values.tolist()]


def show_tiles(text: Prose, lab: Lab, rule: str) -> None:
    """Sides of a tile to choose, the order in which tiles are read, the only scores that exist, the
    output as it grows; and the code of a CPU and of a GPU."""
    with st.container(horizontal=True):
        sides = int(controls.tile_rows()), int(controls.tile_columns())
    tiles = TiledSentence.cut(lab, rule, sides)
    (rows, columns), count, skipped = tiles.blocks, len(tiles.steps), tiles.count - len(tiles.steps)
    tiled, whole = compare_tiles(**tiles.inputs).values()
    named = {
        "words": len(lab.tokens),
        "rows": rows,
        "columns": columns,
        "count": tiles.count,
        "read": count,
        "skipped": skipped,
        "most": rows * columns,
        "all": len(lab.tokens) ** 2,
        "difference": bound_rounding((tiled - whole).abs().max().item()),
    }
    if tiles.blocks != sides:
        text("tiles_larger", **named)
    slider = choose_step(controls.tile_count, count)
    read = slider.index + 1
    alt = _(
        "The tiles in their order, the scores of the tile at the slider, and the output so far."
    )
    explain = _make_explainer(tiles, read)
    show_clickable_figure(tiles.make_panels(read), explain, lab.origin, "tiles", alt, slider)
    hand_over("tiles", _("Attention in tiles"), read_in_tiles, **tiles.inputs, tiles=read)
    text("tiles_seen", **named)
    measurement.check_kernel(text)
    for_cpu, for_gpu = st.columns(2)
    with for_cpu:
        show_source(tiled_attention, read_tile)
    with for_gpu:
        show_functions_of(measurement.KERNEL_FILE, *measurement.KERNEL_CODE, that=measurement.RUNS)


def _make_explainer(tiles: TiledSentence, read: int) -> Callable[[Cell], Arithmetic]:
    lab = tiles.lab
    of_scores = lab.one_head.explain

    def explain(cell: Cell) -> Arithmetic:
        i, j, what = cell.row, cell.column, f"{cell.panel}[{cell.row}, {cell.column}]"
        if cell.panel == HELD:
            return of_scores(Cell("scores", i, j))
        if cell.panel == ORDER:
            tile = tiles.number_cells()[i][j]
            line = _("no query of this tile may see any of its keys: it is skipped")
            if tile:
                line = _("tile {number:g}", number=tile)
            return arithmetic.explain_input(tile or 0.0, what, line)
        seen = tiles.mark_seen(read)
        if not seen[i].any():
            blank = _("{cell} is blank: this row has read nothing yet.", cell=what)
            return arithmetic.explain_input(0.0, what, blank)
        weights = softmax(hide(lab.scores, seen)[i])
        value = tiles.compute_output(read)[i, j].item()
        return arithmetic.explain_dot_product(
            weights.tolist(), lab.views.value[:, j].tolist(), value, what
        )

    return explain


def show_skipped(text: Prose, queries_down: bool) -> None:
    """Every mask as its tiles: how many are computed, and how many pairs it allows. One with few
    cells need not skip a tile."""
    text("spared_tiles", tokens=f"{LONG:,}", side=SIDE)
    counts, panels = count_tiles_by_mask(LONG), []
    # The strided mask allows fewer pairs.
    _all, causal, *_unused, strided = counts.values()
    options = ["0", *(f"{causal[-1] // part}" for part in (2, 4))]
    if ask_veiled(text, "spared", f"{strided[2]}", options, causal=causal[2], side=SIDE):
        hand_over("spared", _("What masks spare on a long text"), count_tiles_by_mask, length=LONG)
        for name, tiles in count_tile_cells(LONG).items():
            computed = [[1.0 if count else None for count in line] for line in tiles.tolist()]
            places = [str(place) for place in range(len(tiles))]
            allowed, _computed, skipped, count = counts[str(name)]
            told = _(
                "{share} of the pairs, {left} of {all} tiles",
                share=write_percent(allowed / LONG**2, 1),
                left=count - skipped,
                all=count,
            )
            labels, blank = (places, places, QUERY_AXIS, KEY_AXIS), N_("skipped")
            matrix = Matrix(name, told, computed, *labels, kind="weights", blank=blank, decimals=0)
            panels.append(Panel(name, matrix, small=True))
        alt = _("Masks of a long text, a cell per tile: filled where it is computed.")
        origin = formula(_("masks of {tokens} tokens", tokens=f"{LONG:,}"), torch.device("cpu"))
        show_figure(Figure(orient_panels(panels, queries_down), alt), origin, "spared")
        text("spared_seen")
    show_source(tile_cells)
