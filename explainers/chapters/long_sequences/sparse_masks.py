"""Masks for long texts, what they spare of the tiles, and two ways to look at another text."""

from explainers.attention import masks
from explainers.attention.rules import Rule
from explainers.chapters.long_sequences.matrix_sizes import cells
from explainers.messages import N_

LONG, SIDE, WIDTH, SINKS = 4_096, 256, 512, 4
"""Tokens of a long text, of a side of its tiles, of a window; the first tokens that all may see."""
CROSS, JOINED = N_("cross-attention: q · kv"), N_("joined into one: (q + kv)²")


def sparse_rules() -> dict[str, Rule]:
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


def spared(tiles: list[list[int]]) -> tuple[int, int, int, int]:
    """Cells that are allowed, cells that tiles compute, tiles skipped, tiles there are."""
    counts = [count for line in tiles for count in line]
    skipped = counts.count(0)
    return sum(counts), (len(counts) - skipped) * SIDE**2, skipped, len(counts)


def by_way(q_len: int, kv_len: int) -> dict[str, int]:
    """Cells of each way to let one sequence look at another."""
    return {CROSS: cells(q_len, kv_len), JOINED: cells(q_len + kv_len, q_len + kv_len)}
