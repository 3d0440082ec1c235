"""To take away: a row in blocks, attention in tiles, what masks spare."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from explainers.attention import masks
from explainers.attention.online_softmax import Running, begin, read_row
from explainers.attention.rules import Rule
from explainers.attention.scaled_dot_product import attention
from explainers.attention.single_head import Projections, project
from explainers.attention.steps import dot_products, scale
from explainers.attention.tiled import positions, read_tile, tile_cells, tiled_attention
from explainers.chapters.common.score_matrix import Lab
from explainers.chapters.long_sequences.matrix_sizes import (
    SIDE,
    count_skipped_tiles,
    make_sparse_rules,
)
from explainers.takeaway.recipe import Recipe
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.takeaway_files import take

Computed = dict[str, Tensor]


@dataclass(frozen=True)
class RowReading:
    """The scores of one word (kv_len,), read `block` keys at a time; value (kv_len, d_v)."""

    scores: Tensor
    value: Tensor
    block: int

    @cached_property
    def steps(self) -> list[Running]:
        """What is known after each block."""
        return read_row(self.scores[None], self.value, self.block)

    def count_seen(self, step: int) -> int:
        """How many keys have been read after a block."""
        return min((step + 1) * self.block, len(self.scores))

    def compute_powers(self, step: int) -> Tensor:
        """e to the (score − largest so far), for the keys that have been read."""
        return torch.exp(self.scores[: self.count_seen(step)] - self.steps[step].largest[0])

    def compute_weights(self, step: int) -> Tensor:
        """The same, divided by the total so far."""
        return self.compute_powers(step) / self.steps[step].total[0]

    def collect_results(self, read: int) -> Computed:
        """All that is known, with a row for each block; 0 where there is nothing yet."""
        steps, length = self.steps[:read], self.count_seen(read - 1)
        kept = [torch.cat([one.largest, one.correction, one.total], dim=-1) for one in steps]
        tables = {"powers": self.compute_powers, "weights": self.compute_weights}
        return {
            "scores": self.scores[None, :length],
            "running": torch.cat(kept),
            **{
                name: pad_sequence([row(n) for n in range(read)], batch_first=True)
                for name, row in tables.items()
            },
            "output": torch.cat([one.output for one in steps]),
        }


def read_in_blocks(layer: Layer, word: int, block: int, blocks: int) -> Computed:
    """One word's row of scores after some blocks: what is kept, and what it gives after each."""
    query, key, value = project(layer.x, layer.head())
    scores = scale(dot_products(query, key), head_dim=query.shape[-1])
    return RowReading(scores[word], value, block).collect_results(blocks)


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


def read_in_tiles(layer: Layer, rule: str, q_block: int, kv_block: int, tiles: int) -> Computed:
    """The output after some tiles, after all of them, and by `attention()`."""
    views = project(layer.x, layer.head())
    reading = TileReading(views, masks.RULES[rule], (q_block, kv_block))
    tiled, output = reading.run_both()
    return {"output so far": reading.compute_output(tiles), "tiled": tiled, "attention": output}


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


def take_row(lab: Lab, word: int, block: int, blocks: int, shown: dict[str, Any]) -> None:
    """The row as far as it was read."""
    inputs = {"layer": lab.layer, "word": word, "block": block, "blocks": blocks}
    take("row", Recipe(_("A row of scores in blocks"), read_in_blocks, inputs, shown))


def take_tiles(lab: Lab, rule: str, blocks: tuple[int, int], read: int, shown: Computed) -> None:
    """The tiles as far as they were read."""
    q_block, kv_block = blocks
    sizes = {"q_block": q_block, "kv_block": kv_block, "tiles": read}
    inputs = {"layer": lab.layer, "rule": rule, **sizes}
    take("tiles", Recipe(_("Attention in tiles"), read_in_tiles, inputs, shown))


def take_sweep(lab: Lab, rule: str, blocks: tuple[int, int]) -> None:
    """All tiles of the first picture, and what they come to."""
    tiled, output = TileReading(lab.views, masks.RULES[rule], blocks).run_both()
    inputs = {"layer": lab.layer, "rule": rule, "q_block": blocks[0], "kv_block": blocks[1]}
    shown = {"tiled": tiled, "attention": output}
    take("sweep", Recipe(_("Attention in tiles, the first picture"), compare_tiles, inputs, shown))


def take_masks(length: int, found: dict[str, tuple[int, ...]]) -> None:
    """What masks spare."""
    title = _("What masks spare on a long text")
    take("spared", Recipe(title, count_tiles_by_mask, {"length": length}, found))
