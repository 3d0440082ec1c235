"""Cells of the weight matrix and their bytes, in whole numbers, and which tiles masks skip."""

from functools import cache

from explainers.attention import masks
from explainers.attention.rules import Rule
from explainers.attention.tiled import tile_cells
from explainers.messages import N_

CELL_BYTES = 2
"""A number of a model that runs: bfloat16."""
TOKENS = (1_024, 4_096, 16_384, 131_072, 1_048_576)


def count_matrix_cells(q_len: int, kv_len: int) -> int:
    """Scores, or weights, of one head in one layer."""
    return q_len * kv_len


def count_matrix_bytes(tokens: int, each: int = CELL_BYTES) -> int:
    """The weights of a text that looks at itself, in one head and layer."""
    return count_matrix_cells(tokens, tokens) * each


def count_row_bytes(tokens: int, head_dim: int, each: int = CELL_BYTES) -> int:
    """Queries, keys, values and output of one head: all that goes in and comes out."""
    return 4 * tokens * head_dim * each


def count_plain_bytes(tokens: int, head_dim: int) -> int:
    """What `attention()` holds at most besides its inputs, in float32.

    That is scores, masked scores and weights at one time, and then the output.
    """
    return 3 * count_matrix_bytes(tokens, 4) + 4 * tokens * head_dim


def count_tiled_bytes(tokens: int, head_dim: int, q_block: int, kv_block: int) -> int:
    """The same for `tiled_attention()`.

    That is two lists of positions, the output's blocks, and beside them either the work on a tile
    (four float32 matrices and its mask) or, in the end, the whole output.
    """
    tile = (4 * 4 + 1) * min(q_block, tokens) * min(kv_block, tokens)
    output = 4 * tokens * head_dim
    return 2 * 8 * tokens + output + max(tile, output)


def tabulate_sizes(numbers: tuple[int, ...] = TOKENS) -> list[tuple[int, int, int]]:
    """(tokens, cells, bytes) of the weight matrix."""
    return [(n, count_matrix_cells(n, n), count_matrix_bytes(n)) for n in numbers]


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


LONG, SIDE, WIDTH, SINKS = 4_096, 256, 512, 4
"""Tokens of a long text, of a side of its tiles, of a window; the first tokens that all may see."""
CROSS, JOINED = N_("cross-attention: q · kv"), N_("joined into one: (q + kv)²")


def make_sparse_rules() -> dict[str, Rule]:
    """Masks for long texts, by what they let through."""
    window = masks.sliding_window(WIDTH)
    sinks = masks.Rule(lambda query_pos, key_pos: (key_pos < SINKS) | window(query_pos, key_pos))
    strided = masks.Rule(
        lambda query_pos, key_pos: (query_pos - key_pos < SIDE) | (key_pos % SIDE == SIDE - 1)
    )
    return {
        N_("full"): masks.full,
        N_("causal"): masks.causal,
        N_("causal, window of {width}", width=WIDTH): window,
        N_("the same, and the first {count} tokens", count=SINKS): masks.causal & sinks,
        N_("causal: the last {side}, and every {side}th", side=SIDE): masks.causal & strided,
    }


def count_skipped_tiles(tiles: list[list[int]]) -> tuple[int, int, int, int]:
    """Cells that are allowed, cells that tiles compute, tiles skipped, tiles there are."""
    counts = [count for line in tiles for count in line]
    skipped = counts.count(0)
    return sum(counts), (len(counts) - skipped) * SIDE**2, skipped, len(counts)


def count_cells_by_way(q_len: int, kv_len: int) -> dict[str, int]:
    """Cells of each way to let one sequence look at another."""
    return {
        CROSS: count_matrix_cells(q_len, kv_len),
        JOINED: count_matrix_cells(q_len + kv_len, q_len + kv_len),
    }
