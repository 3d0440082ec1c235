"""Cells of the weight matrix and their bytes, in whole numbers, and which tiles masks skip."""

from functools import cache

from explainers.attention import masks
from explainers.attention.rules import Rule
from explainers.attention.tiled import tile_cells
from explainers.messages import N_

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
