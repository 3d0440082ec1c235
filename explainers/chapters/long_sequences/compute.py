"""A row in blocks, attention in tiles, and what masks spare: numbers only."""

from dataclasses import dataclass
from functools import cache, cached_property

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
from explainers.messages import N_
from explainers.toys.layers import Layer

CELL_BYTES = 2
"""A number of a model that runs: bfloat16."""


def count_matrix_bytes(tokens: int) -> int:
    """The weights of a text that looks at itself, in one head and layer."""
    return tokens**2 * CELL_BYTES


TILE = 128
"""Queries, and keys, of a tile as a GPU reads it."""
PERIOD = 3
"""Tiles after which a mask looks the same again: chunks of 3 begin where every third tile does."""


@cache
def count_read_tiles(mask: str, tokens: int) -> int:
    """How many tiles of a text a mask leaves, counted for three short texts, a period apart.

    From these on, each period has as many tiles more as the period before: the counts of all such
    texts lie on a parabola.
    """
    steps, beyond = divmod(tokens // TILE - 1, PERIOD)
    lengths = [(1 + beyond + PERIOD * step) * TILE for step in range(3)]
    counts = [
        int((tile_cells(masks.RULES[mask], length, length, TILE, TILE) > 0).sum())
        for length in lengths
    ]
    growth, more = counts[1] - counts[0], counts[2] - 2 * counts[1] + counts[0]
    return counts[0] + steps * growth + steps * (steps - 1) // 2 * more


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
