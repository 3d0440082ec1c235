"""What reading less costs SmolLM2: rows of tables."""

from explainers.models.indexer_training import IndexerSize
from explainers.models.shipped_indexers import (
    FIRST,
    INDEXER,
    KEPT,
    ORACLE,
    POLICIES,
    PROSE,
    WINDOW,
    Shipped,
)
from explainers.translations import say_value
from explainers.ui.text.numbers import NO_WORSE, join_rows, judge_rise, name_thresholds

NUM_HEADS, HEAD_DIM = 9, 64
"""Of SmolLM2; a test compares them with its configuration."""
BLOCK_SIZES = 8, 16, 32


def read_loss(shipped: Shipped, text: str, policy: str, kept: int) -> float:
    """Of the whole model, where every layer keeps so many keys."""
    return shipped.passages[text].losses[policy][KEPT.index(kept)]


def write_row(*cells: object) -> str:
    """A row of a table in Markdown, each number with the visitor's marks."""
    return f"| {' | '.join(map(say_value, cells))} |"


def is_less(one: float, other: float) -> bool:
    """Is a loss smaller by what may be called so?"""
    return judge_rise(other - one) != NO_WORSE


def list_evictions(shipped: Shipped, shown: int) -> str:
    """A row for each size of the cache; bold is the one that the picture shows."""
    rows = []
    for kept in KEPT:
        losses = {name: read_loss(shipped, PROSE, name, kept) for name in POLICIES}
        evicted = shipped.numbers["evicted"][f"{kept}"]
        found = losses[WINDOW], losses[FIRST], evicted, losses[INDEXER], losses[ORACLE]
        cells = [f"{kept}", *(f"{loss:.3f}" for loss in found)]
        rows.append(write_row(*(f"**{cell}**" if kept == shown else cell for cell in cells)))
    return join_rows(rows)


def name_evictions(shipped: Shipped) -> dict[str, str]:
    """At how many sizes H2O beats the first tokens and a window."""
    evicted = shipped.numbers["evicted"]
    wins = sum(is_less(evicted[f"{kept}"], read_loss(shipped, PROSE, FIRST, kept)) for kept in KEPT)
    full = shipped.passages[PROSE].full_loss
    told = {"wins": f"{wins}", "sizes": f"{len(KEPT)}", "felt": name_thresholds()["little"]}
    return {**told, "full": f"{full:.3f}"}


def list_blocks(shipped: Shipped) -> str:
    """A row for each size of block, with the first block kept and without.

    A dash stands where a query's own block and the first leave room for no other.
    """
    found = shipped.numbers["blocks"]
    losses = {name: f"{loss:.3f}" for name, loss in found.items()}
    return join_rows(
        write_row(size, *(losses.get(f"{size} {way}", "–") for way in ("first", "free")))
        for size in BLOCK_SIZES
    )


def name_costs() -> dict[str, str]:
    """Multiplications for a pair of tokens: all heads, and the indexer, which reads every pair."""
    heads, dim = IndexerSize()
    whole, index = NUM_HEADS * HEAD_DIM, heads * dim
    return {
        "heads": f"{NUM_HEADS}",
        "d_k": f"{HEAD_DIM}",
        "whole": f"{whole}",
        "index_heads": f"{heads}",
        "index_dim": f"{dim}",
        "index": f"{index}",
    }
