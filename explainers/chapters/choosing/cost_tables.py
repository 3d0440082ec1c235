"""What each way of reading or storing less costs SmolLM2: rows of tables, and a chart."""

from collections.abc import Mapping
from typing import Any

from explainers.models.chosen_keys import (
    KEYS_BY_CHANNEL,
    KEYS_BY_TOKEN,
    OBSERVED,
    RUNS,
    VALUES_BY_TOKEN,
)
from explainers.models.indexer_training import STEPS, IndexerSize
from explainers.models.shipped_indexers import (
    FIRST,
    INDEXER,
    KEPT,
    NUM_FIRST,
    OBSERVED_NAME,
    ORACLE,
    POLICIES,
    PROSE,
    SHORT,
    THINNED,
    TWICE,
    USUAL,
    WINDOW,
    Shipped,
)
from explainers.translations import _, say_value
from explainers.ui.figure.chart import show_chart
from explainers.ui.provenance import shipped_run
from explainers.ui.text.numbers import (
    NO_WORSE,
    join_rows,
    judge_rise,
    name_thresholds,
    write_percent,
)

NUM_HEADS, HEAD_DIM, D_MODEL = 9, 64, 576
"""Of SmolLM2; a test compares them with its configuration."""
ROUNDED = (
    (KEYS_BY_TOKEN, 4),
    (KEYS_BY_CHANNEL, 4),
    (KEYS_BY_TOKEN, 2),
    (KEYS_BY_CHANNEL, 2),
    (VALUES_BY_TOKEN, 2),
)
BLOCK_SIZES = 8, 16, 32


def read_loss(shipped: Shipped, text: str, policy: str, kept: int) -> float:
    """Of the whole model, where every layer keeps so many keys."""
    return shipped.passages[text].losses[policy][KEPT.index(kept)]


def write_row(*cells: object) -> str:
    """A row of a table in Markdown, each number with the visitor's marks."""
    return f"| {' | '.join(map(say_value, cells))} |"


def list_trainings(shipped: Shipped) -> str:
    """A row for each way to train the indexers, the shipped one among them."""
    numbers = shipped.numbers
    own = {**numbers["indexer"], "size": IndexerSize(), "tokens": numbers["tokens"], "steps": STEPS}
    variants = numbers["variants"]
    names = {
        _("one short text"): variants["one text"],
        _("three texts"): variants["no repeats"],
        _("three texts, one passage twice"): own,
        _("the same, larger"): variants["larger"],
    }
    return join_rows(_write_training(name, one) for name, one in names.items())


def _write_training(name: str, one: Mapping[str, Any]) -> str:
    size = IndexerSize(*one["size"])
    heads, dim = size
    kept = f"{write_percent(one['share'], 1)} ({write_percent(one['worst'], 1)})"
    trained = f"{heads}\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}{dim}", f"{size.count(D_MODEL):,}"
    return write_row(name, f"{one['tokens']:,}", *trained, kept, f"{one['loss']:.3f}")


def name_trainings(shipped: Shipped) -> dict[str, str]:
    """How many indexers there are, and what they are tested on."""
    tokens = len(shipped.passages[PROSE].tokens)
    return {"layers": f"{len(shipped.indexers)}", "kept": f"{USUAL}", "tokens": f"{tokens}"}


def name_baselines(shipped: Shipped) -> dict[str, str]:
    """What no training gives, for the text."""
    numbers, prose = shipped.numbers, shipped.passages[PROSE]
    losses = {name: read_loss(shipped, PROSE, name, USUAL) for name in (ORACLE, FIRST, WINDOW)}
    share = numbers["weight"][FIRST] / numbers["weight"][ORACLE]
    written = {name: f"{loss:.3f}" for name, loss in losses.items()}
    return {**written, "full": f"{prose.full_loss:.3f}", "share": write_percent(share, 1)}


def list_repeats(shipped: Shipped) -> dict[str, float]:
    """The loss of the second reading: all keys, policies, and indexers by their training."""
    numbers, twice = shipped.numbers, shipped.passages[TWICE]
    variants = numbers["variants"]
    return {
        "full": twice.full_loss,
        "oracle": read_loss(shipped, TWICE, ORACLE, SHORT),
        "large": variants["larger"]["twice"],
        "large_once": variants["larger, no repeats"]["twice"],
        "small": numbers["indexer"]["twice"],
        "small_once": variants["no repeats"]["twice"],
        "first": read_loss(shipped, TWICE, FIRST, SHORT),
        "window": read_loss(shipped, TWICE, WINDOW, SHORT),
    }


def name_repeats(shipped: Shipped) -> dict[str, str]:
    """The same for the text, and how much is read."""
    tokens = len(shipped.passages[TWICE].tokens) // 2
    losses = {name: f"{loss:.2f}" for name, loss in list_repeats(shipped).items()}
    size = " × ".join(map(str, shipped.numbers["variants"]["larger"]["size"]))
    return {**losses, "kept": f"{SHORT}", "tokens": f"{tokens}", "size": size}


def show_repeats(shipped: Shipped) -> None:
    """A bar for each."""
    from explainers.charts.bars import draw_bars, make_amount_rows

    names = (
        _("all keys"),
        _("oracle"),
        _("larger indexers, a repeated passage in the training text"),
        _("larger indexers, no repetition"),
        _("small indexers, a repeated passage in the training text"),
        _("small indexers, no repetition"),
        _("first tokens + window"),
        _("window"),
    )
    losses = [round(loss, 2) for loss in list_repeats(shipped).values()]
    found = [*zip(names, losses, strict=True)]
    listed = ", ".join(f"{name} {loss:.2f}" for name, loss in found)
    alt = _("The loss of the second reading: {listed}", listed=listed)
    origin, title = shipped_run(shipped.numbers["model"]), _("loss of the second reading")
    rows = make_amount_rows(found)
    show_chart(draw_bars, rows, alt, "repeats", origin, length=len(found), x_title=title)


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


def list_thinned(shipped: Shipped) -> str:
    """A row for each number of rows that a prompt keeps, in both texts."""
    losses = shipped.numbers["prompts"]
    names = [f"{text} {way}" for text in (PROSE, TWICE) for way in (FIRST, OBSERVED_NAME)]
    return join_rows(
        write_row(kept, *(f"{losses[f'{name} {kept}']:.3f}" for name in names)) for kept in THINNED
    )


def name_thinned(shipped: Shipped) -> dict[str, str]:
    """Both prompts' lengths, the losses with all rows, and at how many sizes votes are better."""
    prose, twice = (shipped.passages[name] for name in (PROSE, TWICE))
    losses = shipped.numbers["prompts"]
    ways = f"{PROSE} {OBSERVED_NAME}", f"{PROSE} {FIRST}"
    pairs = [[losses[f"{way} {kept}"] for way in ways] for kept in THINNED]
    return {
        "wins": f"{sum(is_less(votes, window) for votes, window in pairs)}",
        "felt": name_thresholds()["little"],
        "sizes": f"{len(pairs)}",
        "newest": f"{OBSERVED}",
        "prompt": f"{len(prose.tokens) // 2}",
        "passage": f"{len(twice.tokens) // 2}",
        "full": f"{prose.full_loss:.3f}",
        "twice": f"{twice.full_loss:.3f}",
    }


def list_roundings(shipped: Shipped) -> str:
    """A row for each way to round."""
    names = {
        KEYS_BY_TOKEN: _("keys, a step for 32 numbers of one token"),
        KEYS_BY_CHANNEL: _("keys, a step for 32 tokens of one channel"),
        VALUES_BY_TOKEN: _("values, a step for 32 numbers of one token"),
    }
    losses, moved = shipped.numbers["rounded"], shipped.numbers["moved"]
    rows = [(names[what], bits, f"{what} {bits}") for what, bits in ROUNDED]
    return join_rows(
        write_row(name, bits, write_percent(moved[key]), f"{losses[key]:.3f}")
        for name, bits, key in rows
    )


def name_roundings(shipped: Shipped) -> dict[str, str]:
    """How many runs a loss is the mean of, and how far apart single ones are."""
    spread = max(shipped.numbers["spread"].values())
    return {"runs": f"{RUNS}", "spread": f"{spread:.3f}"}


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
        "share": f"1/{whole // index}",
        "first": f"{NUM_FIRST}",
    }
