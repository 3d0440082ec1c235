"""A map of all weights of up to 32,768 words, and any part of it exactly: none are stored."""

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.attention.weight_windows import (
    add_up_rows,
    cut,
    largest_in_strip,
    tile_of_scores,
    window,
)
from explainers.chapters.common.background_job import offer_job, watch_job
from explainers.charts.matrix import Matrix
from explainers.charts.theme import KEY_AXIS, QUERY_AXIS
from explainers.job_queue import Job
from explainers.memory.sizes import format_size
from explainers.messages import N_
from explainers.models.free_memory import measure_free_bytes
from explainers.models.registry import ModelError
from explainers.translations import TEXTS, _
from explainers.ui.controls import page_controls as controls
from explainers.ui.controls.page_controls import BLOCKS
from explainers.ui.figure.clickable_figure import show_clickable_figure
from explainers.ui.figure.panels import Cell, Panel
from explainers.ui.provenance import random_weights
from explainers.ui.session import WEIGHT_MAP_JOB
from explainers.ui.text.numbers import bound_rounding, write_percent

CPU = torch.device("cpu")
HEAD_DIM, MATCH = 64, 20.0
"""The score of two equal words; those of all others are near 0."""
AROUND = 4
"""Cells before and after the largest one that have digits."""
RARE = "umbrella"
ASKED, TOLD = controls.map_row.default, controls.map_column.default
"""The blocks that hold the rare word: the second time as a query, the first time as a key."""
STRIP = 512
SHARE = 4
"""No more than a quarter of the free memory is taken."""
MAP, WINDOW, CELLS = N_("map"), N_("window"), N_("largest weight")


class MapRequest(NamedTuple):
    """How many words, and the seed that draws them."""

    length: int
    seed: int


class KeptHead(NamedTuple):
    """Words, queries and keys (length, head_dim), totals (length, 1), a map (blocks, blocks)."""

    words: list[str]
    query: Tensor
    key: Tensor
    totals: Tensor
    largest: Tensor

    @property
    def block(self) -> int:
        """Words on a side of a block of the map."""
        return -(-len(self.words) // BLOCKS)

    @property
    def num_bytes(self) -> int:
        """Of all that is kept."""
        return sum(kept.nbytes for kept in self[1:])


MapJob = Job[MapRequest, int, KeptHead]
"""It reports each strip of queries, once for the totals and once for the map."""


def estimate_bytes(length: int) -> int:
    """What a job takes at most: Q and K, once again as much to work in."""
    return 2 * 2 * 4 * length * HEAD_DIM


def draw_text(request: MapRequest) -> tuple[list[str], Tensor]:
    """Words of the shipped prose in a random order with a rare one twice; vectors of all words."""
    random = torch.Generator().manual_seed(request.seed)
    prose = (TEXTS / "passages.txt").read_text(encoding="utf-8").lower().split()
    drawn = torch.randint(len(prose), (request.length,), generator=random).tolist()
    words, block = [prose[place] for place in drawn], -(-request.length // BLOCKS)
    for place in (ASKED, TOLD):
        words[place * block + int(torch.randint(block, (1,), generator=random))] = RARE
    known = sorted({*prose, RARE})
    numbers = {word: number for number, word in enumerate(known)}
    directions = torch.nn.functional.normalize(
        torch.randn(len(known), HEAD_DIM, generator=random), dim=-1
    )
    return words, directions[[numbers[word] for word in words]]


def compute_map(job: MapJob) -> KeptHead:
    """Totals of all rows, then the largest weight of each block; strip by strip."""
    length = job.subject.length
    if estimate_bytes(length) > measure_free_bytes(CPU) // SHARE:
        raise ModelError(
            N_("{count:,} words need more memory than is free here. Choose fewer.", count=length)
        )
    words, x = draw_text(job.subject)
    query = key = x * (MATCH * HEAD_DIM**0.5) ** 0.5
    strips, block = cut(length, STRIP), -(-length // BLOCKS)
    totals = torch.cat([*_report(job, strips, partial(add_up_rows, query, key))])
    find = partial(largest_in_strip, query, key, totals)
    largest = torch.cat([*_report(job, cut(length, block), find, block)])
    return KeptHead(words, query, key, totals, largest)


def _report(
    job: MapJob, strips: list[slice], compute: partial[Tensor], block: int = STRIP
) -> Iterator[Tensor]:
    for rows in strips:
        yield compute(rows, block, True)
        job.report(rows.stop)


def make_map_job(request: MapRequest) -> MapJob:
    """The job, not yet started."""
    total = len(cut(request.length, STRIP)) + BLOCKS
    return Job(request, compute_map, total, readable_errors=(ModelError,))


def offer_map(seed: int) -> KeptHead | None:
    """How long the text is to be, a button; and the map when there is one."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        request = MapRequest(controls.map_length(), seed)
        icon = ":material/grid_view:"
        job = offer_job(WEIGHT_MAP_JOB, _("Compute the map"), make_map_job(request), icon=icon)
    if not job:
        return None
    if not job.result:
        watch_job(WEIGHT_MAP_JOB, job, _("{length:,} words", length=job.subject.length))
        return None
    return job.result


class OpenedBlock(NamedTuple):
    """A block of the map, its exact weights, and where the largest of them is."""

    kept: KeptHead
    rows: slice
    columns: slice
    weights: Tensor
    seconds: float

    @property
    def largest(self) -> tuple[int, int]:
        """Query and key, from 0, of the largest weight."""
        row, column = divmod(int(self.weights.argmax()), self.weights.shape[1])
        return self.rows.start + row, self.columns.start + column

    @property
    def around(self) -> tuple[slice, slice]:
        """A few queries and keys around the largest weight."""
        ends = len(self.kept.words)
        sides = (slice(max(0, at - AROUND), min(ends, at + AROUND + 1)) for at in self.largest)
        return next(sides), next(sides)


def open_block(kept: KeptHead, row: int, column: int) -> OpenedBlock:
    """Compute a block's weights again, from Q, K and the totals."""
    blocks, began = cut(len(kept.words), kept.block), time.perf_counter()
    rows, columns = blocks[row], blocks[column]
    weights = window(kept.query, kept.key, kept.totals, rows, columns, is_causal=True)
    return OpenedBlock(kept, rows, columns, weights, time.perf_counter() - began)


def show_map(kept: KeptHead, seed: int, queries_down: bool) -> dict[str, object]:
    """The map, the chosen block, the cells around its largest weight; and what is said of them."""
    count = len(cut(len(kept.words), kept.block))
    with st.container(horizontal=True):
        row, column = controls.map_row(0, count - 1), controls.map_column(0, count - 1)
    opened = open_block(kept, row, column)

    def choose(cell: Cell) -> None:
        controls.map_row.put(cell.row)
        controls.map_column.put(cell.column)

    alt = _(
        "A map of the largest weight in each block, one block with all its weights, and the cells "
        "around its largest one."
    )
    panels = [replace(p, flipped=not queries_down) for p in make_panels(opened, row, column)]
    explain, origin = partial(explain_weight, opened), random_weights(seed, CPU)
    show_clickable_figure(panels, explain, origin, "map", alt, acts={MAP: choose})
    return describe_block(opened)


def make_panels(opened: OpenedBlock, row: int, column: int) -> list[Panel]:
    """From the whole text to one weight."""
    kept, (rows, columns) = opened.kept, opened.around
    blocks = [f"{part.start + 1:,}" for part in cut(len(kept.words), kept.block)]
    near = window(kept.query, kept.key, kept.totals, rows, columns, is_causal=True)
    of_map = Matrix(
        MAP,
        N_("largest weight of {block:,} × {block:,} weights", block=kept.block),
        _blank_later(kept.largest, slice(0, len(blocks)), slice(0, len(blocks))),
        blocks,
        blocks,
        N_("block of queries"),
        N_("block of keys"),
        "weights",
        ringed_cells=[(row, column)],
    )
    values = _blank_later(opened.weights, opened.rows, opened.columns)
    words = kept.words[opened.rows], kept.words[opened.columns]
    axes = N_("query in this block"), N_("key in this block")  # an image has no room for words
    of_block = Matrix(
        WINDOW, N_("all weights of the chosen block"), values, *words, *axes, "weights"
    )
    values, words = _blank_later(near, rows, columns), (kept.words[rows], kept.words[columns])
    axes = QUERY_AXIS, KEY_AXIS
    of_cells = Matrix(CELLS, N_("and the weights around it"), values, *words, *axes, "weights")
    return [Panel(MAP, of_map), Panel(WINDOW, of_block), Panel(CELLS, of_cells)]


def _blank_later(weights: Tensor, rows: slice, columns: slice) -> list[list[float | None]]:
    """Blank where a key comes after its query."""
    return [
        [w if key <= query else None for key, w in enumerate(line, columns.start)]
        for query, line in enumerate(weights.tolist(), rows.start)
    ]


def explain_weight(opened: OpenedBlock, cell: Cell) -> Arithmetic:
    """A weight from its score and the total of its row."""
    kept, (rows, columns) = opened.kept, opened.around
    if cell.panel == MAP:
        value = kept.largest[cell.row, cell.column].item()
        return arithmetic.explain_input(value, MAP, N_("The largest weight of this block."))
    if cell.panel == WINDOW:
        rows, columns = opened.rows, opened.columns
    query, key = rows.start + cell.row, columns.start + cell.column
    if key > query:
        return arithmetic.explain_input(0.0, WINDOW, N_("A later word: the mask forbids it."))
    at = slice(query, query + 1), slice(key, key + 1)
    score = tile_of_scores(kept.query, kept.key, *at, is_causal=True).item()
    total, value = kept.totals[query].item(), window(*kept[1:4], *at, is_causal=True).item()
    line = N_(
        "e^(score − ln total) = e^({score:.4f} − {total:.4f}) = {value:.4f}",
        score=score,
        total=total,
        value=value,
    )
    return arithmetic.explain_input(value, cell.panel, line)


def describe_block(opened: OpenedBlock) -> dict[str, object]:
    """What is kept and what never was, and the largest weight beside softmax over its whole row."""
    kept, (query, key) = opened.kept, opened.largest
    row = kept.query[query] @ kept.key[: query + 1].T / HEAD_DIM**0.5
    value = opened.weights.max().item()
    length = len(kept.words)
    return {
        "tokens": f"{length:,}",
        "cells": f"{length**2:,}",
        "square": format_size(4 * length**2),
        "kept": format_size(kept.num_bytes),
        "block": f"{kept.block:,}",
        "milliseconds": f"{1000 * opened.seconds:.1f}",
        "query": kept.words[query],
        "key": kept.words[key],
        "query_place": f"{query + 1:,}",
        "key_place": f"{key + 1:,}",
        "weight": write_percent(value, 1),
        "difference": bound_rounding(abs(row.softmax(-1)[key].item() - value)),
    }
