"""Attention tile by tile on the sentence, and the tiles that masks of a long text skip."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
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
from explainers.charts.matrix import Matrix, Values, find_largest, make_pair_matrix
from explainers.charts.theme import FEATURE_AXIS, KEY_AXIS, QUERY_AXIS
from explainers.messages import N_
from explainers.takeaway.recipe import Recipe
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.linked_matrices import show_clickable_figure, show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel, Slider, orient_panels
from explainers.ui.provenance import formula
from explainers.ui.takeaway_files import take
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


def count_skipped_tiles(tiles: list[list[int]]) -> tuple[int, int, int, int]:
    """Cells that are allowed, cells that tiles compute, tiles skipped, tiles there are."""
    counts = [count for line in tiles for count in line]
    skipped = counts.count(0)
    return sum(counts), (len(counts) - skipped) * SIDE**2, skipped, len(counts)


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

    def run_both(self) -> tuple[Tensor, Tensor]:
        """The outputs of `tiled_attention` and of `attention`."""
        length = len(self.views.query)
        mask = masks.build(self.rule, length, length).to(self.views.query.device)
        tiled = tiled_attention(*self.views, self.rule, *self.blocks)
        return tiled, attention(*self.views, mask).output


Computed = dict[str, Tensor]


def read_in_tiles(layer: Layer, rule: str, q_block: int, kv_block: int, tiles: int) -> Computed:
    """The output after some tiles, and after all of them."""
    views = project(layer.x, layer.head())
    reading = TileReading(views, masks.RULES[rule], (q_block, kv_block))
    tiled, _output = reading.run_both()
    return {"output so far": reading.compute_output(tiles), "tiled": tiled}


def compare_tiles(layer: Layer, rule: str, q_block: int, kv_block: int) -> Computed:
    """The output after all tiles, and by `attention()`."""
    views = project(layer.x, layer.head())
    tiled, output = TileReading(views, masks.RULES[rule], (q_block, kv_block)).run_both()
    return {"tiled": tiled, "attention": output}


def count_tiles_by_mask(length: int) -> dict[str, tuple[int, ...]]:
    """Of each mask: cells allowed, cells computed, tiles skipped, tiles there are."""
    sizes = length, length, SIDE, SIDE
    rules = make_sparse_rules().items()
    return {
        str(name): count_skipped_tiles(tile_cells(rule, *sizes).tolist()) for name, rule in rules
    }


@dataclass(frozen=True)
class TiledSentence:
    """A sentence cut into tiles, under a rule; small tiles of a long text would be too many."""

    lab: Lab
    rule: Rule
    asked: tuple[int, int]

    @property
    def blocks(self) -> tuple[int, int]:
        """Queries and keys of a tile, which is no larger than the text."""
        words = len(self.lab.tokens)
        least = ceil(words / MOST_SIDE)
        q_block, kv_block = (min(max(side, least), words) for side in self.asked)
        return q_block, kv_block

    @cached_property
    def reading(self) -> TileReading:
        """What is computed, tile by tile."""
        return TileReading(self.lab.views, self.rule, self.blocks)

    @property
    def steps(self) -> list[TileStep]:
        """The tiles that are read."""
        return self.reading.steps

    @property
    def count(self) -> int:
        """How many tiles there are, read or not."""
        rows, columns = (ceil(len(self.lab.tokens) / side) for side in self.blocks)
        return rows * columns

    @property
    def difference(self) -> float:
        """The largest of `tiled_attention` from `attention`."""
        tiled, whole = self.reading.run_both()
        return (tiled - whole).abs().max().item()

    def compute_output(self, read: int) -> Tensor:
        """What is known after so many tiles; a row that has read nothing is not a number."""
        return self.reading.compute_output(read)

    def take_sweep(self, rule: str) -> None:
        """The first picture's output, of the tiles that it draws and of the head's own weights."""
        shown = {
            "tiled": self.compute_output(len(self.steps)),
            "attention": self.lab.weights(self.rule) @ self.lab.views.value,
        }
        title = _("Attention in tiles, the first picture")
        take("sweep", Recipe(title, compare_tiles, self._name_inputs(rule), shown))

    def take_steps(self, rule: str, read: int) -> None:
        """The output after so many tiles, as it is drawn, and after all of them."""
        steps, inputs = (read, len(self.steps)), self._name_inputs(rule) | {"tiles": read}
        shown = dict(zip(("output so far", "tiled"), map(self.compute_output, steps), strict=True))
        take("tiles", Recipe(_("Attention in tiles"), read_in_tiles, inputs, shown))

    def _name_inputs(self, rule: str) -> dict[str, Any]:
        q_block, kv_block = self.blocks
        return {"layer": self.lab.layer, "rule": rule, "q_block": q_block, "kv_block": kv_block}

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

    def find_held(self, read: int) -> Values:
        """The scores of the tile that was read last: there are no others."""
        last = self.mark_seen(read) & ~self.mark_seen(read - 1)
        return blank_unknown(self.lab.scores.masked_fill(~last, torch.nan))

    def make_panels(self, read: int) -> list[Panel]:
        """The picture after so many tiles, with a frame for every number of them."""
        tokens, count = self.lab.tokens, range(1, len(self.steps) + 1)
        held = tuple(self.find_held(n) for n in count)
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


def choose_tiles(lab: Lab, rule: Rule) -> TiledSentence:
    """The sentence in tiles of sides that the reader chooses."""
    with st.container(horizontal=True):
        sides = int(controls.tile_rows()), int(controls.tile_columns())
    return TiledSentence(lab, rule, sides)


def name_tiles(tiles: TiledSentence) -> dict[str, object]:
    """What a text says of the tiles."""
    rows, columns = tiles.blocks
    words, read = len(tiles.lab.tokens), len(tiles.steps)
    return {
        "words": words,
        "rows": rows,
        "columns": columns,
        "count": tiles.count,
        "read": read,
        "skipped": tiles.count - read,
        "most": rows * columns,
        "all": words**2,
        "difference": bound_rounding(tiles.difference),
    }


def show_tiles(tiles: TiledSentence, rule: str) -> None:
    """The order in which tiles are read, the only scores that exist, the output as it grows."""
    lab, count, control = tiles.lab, len(tiles.steps), controls.tile_count
    place = min(control(), count - 1)
    labels = [_("{count} of {all}", count=n + 1, all=count) for n in range(count)]
    slider = Slider(control.label, labels, place, lambda turned: control.put(turned + 1), True)
    alt = _(
        "The tiles in their order, the scores of the tile at the slider, and the output so far."
    )
    explain = _make_explainer(tiles, place + 1)
    show_clickable_figure(tiles.make_panels(place + 1), explain, lab.origin, "tiles", alt, slider)
    tiles.take_steps(rule, place + 1)


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
    title = _("What masks spare on a long text")
    shown = {str(name): count_skipped_tiles(tiles) for name, tiles in found.items()}
    take("spared", Recipe(title, count_tiles_by_mask, {"length": LONG}, shown))
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
