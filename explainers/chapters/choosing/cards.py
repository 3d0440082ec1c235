"""The cards of the page: five keys with all their numbers, and what reading less costs SmolLM2."""

from random import Random
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import kl_div

from explainers.attention.indexer import IndexInputs, index_scores, keep_best
from explainers.attention.untrained_choice import choose_blocks, evict_least_read, score_blocks
from explainers.chapters.common.measured_heads import CODE_ROLE
from explainers.charts.matrix import Matrix
from explainers.charts.theme import KEY_AXIS
from explainers.models.indexers import (
    FIRST,
    INDEXER,
    KEPT,
    MODEL,
    ORACLE,
    POLICIES,
    PROSE,
    USUAL,
    WINDOW,
    IndexerSize,
    Passage,
    Shipped,
)
from explainers.translations import _, say_value
from explainers.ui.figure.chart import show_chart
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.provenance import shipped_run
from explainers.ui.source import show_source
from explainers.ui.text import numbers

NUM_HEADS, HEAD_DIM = 9, 64
"""Of SmolLM2; a test compares them with its configuration."""
BLOCK_SIZES = 8, 16, 32


def read_loss(shipped: Shipped, text: str, policy: str, kept: int) -> float:
    """Of the whole model, where every layer keeps so many keys."""
    return shipped.passages[text].losses[policy][KEPT.index(kept)]


def write_row(*cells: object) -> str:
    """A row of a table in Markdown, each number with the visitor's marks."""
    return f"| {' | '.join(map(say_value, cells))} |"


def show_evicted(text: Prose, shipped: Shipped, shown: int) -> None:
    """What may be thrown away from a cache of fixed size; bold is the size in the picture."""
    rows = []
    for kept in KEPT:
        losses = {name: read_loss(shipped, PROSE, name, kept) for name in POLICIES}
        evicted = shipped.numbers["evicted"][f"{kept}"]
        found = losses[WINDOW], losses[FIRST], evicted, losses[INDEXER], losses[ORACLE]
        cells = [f"{kept}", *(f"{loss:.3f}" for loss in found)]
        rows.append(write_row(*(f"**{cell}**" if kept == shown else cell for cell in cells)))
    text("evicted", rows=numbers.join_rows(rows))
    text("evicted_seen", **name_evictions(shipped))
    show_source(evict_least_read, that=CODE_ROLE)


def name_evictions(shipped: Shipped) -> dict[str, str]:
    """At how many sizes H2O beats the first tokens and a window."""
    evicted = shipped.numbers["evicted"]
    wins = sum(
        numbers.judge_rise(read_loss(shipped, PROSE, FIRST, kept) - evicted[f"{kept}"])
        != numbers.NO_WORSE
        for kept in KEPT
    )
    full = shipped.passages[PROSE].full_loss
    told = {"wins": f"{wins}", "sizes": f"{len(KEPT)}", "felt": numbers.name_thresholds()["little"]}
    return {**told, "full": f"{full:.3f}"}


def show_blocks(text: Prose, shipped: Shipped) -> None:
    """Whole blocks of keys, found without any training: a row for each size of block, with the
    first block kept and without. A dash stands where a query's own block and the first leave room
    for no other."""
    losses = {name: f"{loss:.3f}" for name, loss in shipped.numbers["blocks"].items()}
    rows = numbers.join_rows(
        write_row(size, *(losses.get(f"{size} {way}", "–") for way in ("first", "free")))
        for size in BLOCK_SIZES
    )
    text("blocks", rows=rows, kept=USUAL)
    show_source(score_blocks, choose_blocks, that=CODE_ROLE)


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


FIRST_KEYS, KEPT_OF_FIRST = 5, 2


class FiveKeys(NamedTuple):
    """Everything about the five keys of one query: each (5,), products (heads, 5)."""

    tokens: list[str]
    share: Tensor
    products: Tensor
    scores: Tensor
    said: Tensor
    weights: Tensor
    kept: Tensor
    divergence: float
    index_dim: int


def compute_row(passage: Passage) -> FiveKeys:
    """The last row of an indexer that reads five tokens."""
    query, key, share = passage.inputs
    given = IndexInputs(
        query[..., FIRST_KEYS - 1 : FIRST_KEYS, :],
        key[:FIRST_KEYS],
        share[FIRST_KEYS - 1 : FIRST_KEYS],
    )
    products = (given.query @ given.key.mT)[:, 0] / key.shape[-1] ** 0.5
    scores = index_scores(*given)
    said, weights = scores[0].softmax(dim=-1), passage.weights[FIRST_KEYS - 1, :FIRST_KEYS]
    weights = weights / weights.sum()  # kept in 16 bits
    kept = keep_best(scores, KEPT_OF_FIRST, torch.ones(1, FIRST_KEYS, dtype=torch.bool))[0]
    divergence = kl_div(said.log(), weights, reduction="sum").item()
    found = share[FIRST_KEYS - 1], products, scores[0], said, weights, kept, divergence
    return FiveKeys(passage.tokens[:FIRST_KEYS], *found, key.shape[-1])


def show_row(passage: Passage) -> dict[str, Any]:
    """Five small matrices; returns the numbers for the text."""
    row = compute_row(passage)
    alt = _("Five keys of one query: products, index scores, softmax, the heads' weights, mask.")
    show_figure(Figure(list_panels(row), alt), shipped_run(MODEL), "five keys")
    pairs = zip(row.tokens, row.kept.tolist(), strict=True)
    chosen = [token.strip() for token, is_kept in pairs if is_kept]
    return {
        "word": row.tokens[-1].strip(),
        "kept": KEPT_OF_FIRST,
        "keys": FIRST_KEYS,
        "first": chosen[0],
        "second": chosen[1],
        "share": numbers.write_percent(float(row.weights[row.kept].sum())),
        "kl": f"{row.divergence:.2f}",
    }


def list_panels(row: FiveKeys) -> list[Panel]:
    """In the order in which they are computed; beside them what the model's heads do."""
    keys = [f"{place} {token.strip()}" for place, token in enumerate(row.tokens, start=1)]
    asks, axes = [row.tokens[-1].strip()], ("", KEY_AXIS)
    heads = [_("head {number}", number=number) for number in range(1, len(row.share) + 1)]
    formula = _("short query · the one key / √{dim}", dim=row.index_dim)
    products = Matrix(_("products"), formula, row.products.tolist(), heads, keys, *axes)
    listed = [[share] for share in row.share.tolist()]
    shares = Matrix(_("factors"), _("of the query"), listed, heads, [_("factor")], "", "")
    formula = _("sum of factor · max(product, 0), / √{heads}", heads=len(heads))
    scores = Matrix(_("index scores"), formula, [row.scores.tolist()], asks, keys, *axes)
    sides = [_("indexer"), _("heads")]
    both = [row.said.tolist(), row.weights.tolist()]
    formula = _("softmax of the scores; mean of the heads")
    weights = Matrix(_("weights"), formula, both, sides, keys, *axes, "weights")
    listed = [row.kept.float().tolist()]
    kept = Matrix(
        _("mask"), _("1: read this key"), listed, asks, keys, *axes, "weights", decimals=0
    )
    return [
        Panel("products", products),
        Panel("shares", shares, "·"),
        Panel("scores", scores, "→"),
        Panel("weights", weights, heading=_("Softmax of the scores, and what is kept")),
        Panel("mask", kept, "→"),
    ]


ANSWERS = numbers.MUCH_WORSE, numbers.A_LITTLE_WORSE, numbers.NO_WORSE


def name_sharing(shipped: Shipped) -> dict[str, str]:
    """The losses of the question, for its text."""
    prose = shipped.passages[PROSE]
    return {
        "full": f"{prose.full_loss:.3f}",
        "own": f"{shipped.numbers['own'][f'{USUAL}']:.3f}",
        "shared": f"{prose.losses[ORACLE][KEPT.index(USUAL)]:.3f}",
        "kept": f"{USUAL}",
        "heads": f"{NUM_HEADS}",
        **numbers.name_thresholds(),
    }


def answer_sharing(shipped: Shipped) -> str:
    """How much worse one set of keys for all heads is than a set for each."""
    shared = shipped.passages[PROSE].losses[ORACLE][KEPT.index(USUAL)]
    return numbers.judge_rise(shared - shipped.numbers["own"][f"{USUAL}"])


def draw_sharing(shipped: Shipped) -> None:
    """A bar for each: all keys, a set for all heads, a set for each head."""
    from explainers.charts.bars import draw_bars, make_amount_rows

    prose = shipped.passages[PROSE]
    losses = (
        (_("all keys"), prose.full_loss),
        (
            _("one set for all {heads} heads", heads=NUM_HEADS),
            prose.losses[ORACLE][KEPT.index(USUAL)],
        ),
        (_("each head its own set"), shipped.numbers["own"][f"{USUAL}"]),
    )
    found = [(name, round(loss, 3)) for name, loss in losses]
    listed = ", ".join(f"{name} {loss:.3f}" for name, loss in found)
    alt = _("The loss with {kept} keys: {listed}", kept=USUAL, listed=listed)
    rows, title = make_amount_rows(found), _("loss of the model, with the best keys")
    origin = shipped_run(MODEL)
    show_chart(draw_bars, rows, alt, "shared keys", origin, length=len(found), x_title=title)


def recall_index(draw: Random) -> Recall:
    """Which of two keys an indexer of two short heads keeps."""
    while True:
        products = [[draw.randint(-6, 9) for _key in range(2)] for _head in range(2)]
        shares = [draw.randint(1, 9) / 10 for _head in range(2)]
        # A key of one number, 1, and queries of one number: products are what is asked for.
        keys = [compute_score([row[key] for row in products], shares) for key in range(2)]
        if min(map(min, products)) < 0 and abs(keys[0] - keys[1]) > 0.3:
            break
    kept = keep_best(torch.tensor([keys]), 1, torch.ones(1, 2, dtype=torch.bool))[0]
    names = _("the first key"), _("the second key")
    given = {
        f"{which}_{number}": f"{products[head][key]}".replace("-", "−")
        for head, number in enumerate(("one", "two"))
        for key, which in enumerate(("first", "second"))
    }
    given |= {
        f"share_{name}": f"{share:g}" for name, share in zip(("one", "two"), shares, strict=True)
    }
    worked = {"first": numbers.write_decimals(keys[0]), "second": numbers.write_decimals(keys[1])}
    return Recall(names[int(kept.long().argmax())], given, names, worked=worked)


def compute_score(products: list[int], shares: list[float]) -> float:
    """A key's score without the two roots, which change no order."""
    query = torch.tensor(products, dtype=torch.double)[:, None, None]
    score = index_scores(query, torch.ones(1, 1).double(), torch.tensor([shares]).double())
    return float(score) * len(shares) ** 0.5


def recall_skipped(draw: Random) -> Recall:
    """From how many keys the next query can still choose."""
    tokens, kept = draw.randint(100, 900), draw.choice([8, 16, 32])
    return Recall(tokens + 1, {"tokens": f"{tokens}", "kept": f"{kept}"})
