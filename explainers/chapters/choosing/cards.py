"""The cards of the page: five keys with all their numbers, and what reading less costs SmolLM2."""

from random import Random

import torch
from torch.nn.functional import kl_div

from explainers.attention.indexer import (
    IndexInputs,
    index_scores,
    keep_best,
    project_index,
    turn_first,
)
from explainers.attention.untrained_choice import choose_blocks, evict_least_read, score_blocks
from explainers.chapters.choosing.hero import read_loss
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
    compute_kl,
    train_indexer,
)
from explainers.translations import _, say_value
from explainers.ui.figure.chart import show_chart
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.prediction import revealed
from explainers.ui.provenance import shipped_run
from explainers.ui.source import show_source
from explainers.ui.text import numbers
from explainers.ui.text.language import fragment

NUM_HEADS, HEAD_DIM = 9, 64
"""Of SmolLM2; a test compares them with its configuration."""
BLOCK_SIZES = 8, 16, 32


def write_row(*cells: object) -> str:
    """A row of a table in Markdown, each number with the visitor's marks."""
    return f"| {' | '.join(map(say_value, cells))} |"


def show_evicted(text: Prose, shipped: Shipped, shown: int) -> None:
    """What may be thrown away from a cache of fixed size; bold is the size in the picture."""
    rows = []
    for kept in KEPT:
        losses = {name: read_loss(shipped.passages[PROSE], name, kept) for name in POLICIES}
        evicted = shipped.numbers["evicted"][f"{kept}"]
        found = losses[WINDOW], losses[FIRST], evicted, losses[INDEXER], losses[ORACLE]
        cells = [f"{kept}", *(f"{loss:.3f}" for loss in found)]
        rows.append(write_row(*(f"**{cell}**" if kept == shown else cell for cell in cells)))
    text("evicted", rows=numbers.join_rows(rows))
    told = {"wins": f"{count_h2o_wins(shipped)}", "felt": numbers.name_thresholds()["little"]}
    full = f"{shipped.passages[PROSE].full_loss:.3f}"
    text("evicted_seen", **told, sizes=f"{len(KEPT)}", full=full)
    show_source(evict_least_read, that=CODE_ROLE)


def count_h2o_wins(shipped: Shipped) -> int:
    """At how many sizes H2O beats the first tokens and a window."""
    prose, evicted = shipped.passages[PROSE], shipped.numbers["evicted"]
    rises = (read_loss(prose, FIRST, kept) - evicted[f"{kept}"] for kept in KEPT)
    return sum(numbers.judge_rise(rise) != numbers.NO_WORSE for rise in rises)


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


FIRST_KEYS, KEPT_OF_FIRST = 5, 2


@fragment
def show_how(text: Prose, passage: Passage) -> None:
    """The last row of an indexer that reads five tokens, in the order in which it is computed, and
    what the model's heads do: five small matrices."""
    text("how")
    query, key, share = passage.inputs
    last = slice(FIRST_KEYS - 1, FIRST_KEYS)
    given = IndexInputs(query[..., last, :], key[:FIRST_KEYS], share[last])
    products = (given.query @ given.key.mT)[:, 0] / key.shape[-1] ** 0.5
    scores = index_scores(*given)
    said, weights = scores[0].softmax(dim=-1), passage.weights[FIRST_KEYS - 1, :FIRST_KEYS]
    weights = weights / weights.sum()  # kept in 16 bits
    kept = keep_best(scores, KEPT_OF_FIRST, torch.ones(1, FIRST_KEYS, dtype=torch.bool))
    index_heads, index_dim = IndexerSize()
    tokens = [token.strip() for token in passage.tokens[:FIRST_KEYS]]
    keys = [f"{place} {token}" for place, token in enumerate(tokens, start=1)]
    heads = [_("head {number}", number=number) for number in range(1, len(products) + 1)]
    rule = _("short query · the one key / √{dim}", dim=index_dim)
    sums = _("sum of factor · max(product, 0), / √{heads}", heads=len(heads))
    shares = _("softmax of the scores; mean of the heads")
    sides, both = [_("indexer"), _("heads")], torch.stack([said, weights]).tolist()
    factors, seen, axes = given.share.T.tolist(), kept.float().tolist(), (keys, "", KEY_AXIS)
    read = Matrix(_("mask"), _("1: read this key"), seen, tokens[-1:], *axes, "weights", decimals=0)
    panels = [
        Panel("products", Matrix(_("products"), rule, products.tolist(), heads, *axes)),
        Panel(
            "shares",
            Matrix(_("factors"), _("of the query"), factors, heads, [_("factor")], "", ""),
            "·",
        ),
        Panel("scores", Matrix(_("index scores"), sums, scores.tolist(), tokens[-1:], *axes), "→"),
        Panel(
            "weights",
            Matrix(_("weights"), shares, both, sides, *axes, "weights"),
            heading=_("Softmax of the scores, and what is kept"),
        ),
        Panel("mask", read, "→"),
    ]
    alt = _("Five keys of one query: products, index scores, softmax, the heads' weights, mask.")
    show_figure(Figure(panels, alt), shipped_run(MODEL), "five keys")
    first, second = (token for token, is_kept in zip(tokens, kept[0], strict=True) if is_kept)
    told: dict[str, object] = {"keys": FIRST_KEYS, "kept": KEPT_OF_FIRST, "first": first}
    told |= {"second": second, "word": tokens[-1]}
    # Multiplications for a pair of tokens: all heads, and the indexer, which reads every pair.
    told |= {"heads": NUM_HEADS, "d_k": HEAD_DIM, "whole": NUM_HEADS * HEAD_DIM}
    told |= {"index_heads": index_heads, "index_dim": index_dim, "index": index_heads * index_dim}
    share_of_kept = numbers.write_percent(float(weights[kept[0]].sum()))
    kl = f"{kl_div(said.log(), weights, reduction='sum'):.2f}"
    text("how_seen", **told, share=share_of_kept, kl=kl)
    show_source(index_scores, keep_best)
    show_source(project_index, turn_first, compute_kl, train_indexer, that=CODE_ROLE)


ANSWERS = numbers.MUCH_WORSE, numbers.A_LITTLE_WORSE, numbers.NO_WORSE


@fragment
def ask_sharing(text: Prose, shipped: Shipped) -> None:
    """How much worse one set of keys for all heads is than a set for each, asked; then a bar for
    each, and for all keys."""
    full, own = shipped.passages[PROSE].full_loss, shipped.numbers["own"][f"{USUAL}"]
    shared = read_loss(shipped.passages[PROSE], ORACLE, USUAL)
    named = {
        "full": f"{full:.3f}",
        "own": f"{own:.3f}",
        "shared": f"{shared:.3f}",
        "kept": f"{USUAL}",
        "heads": f"{NUM_HEADS}",
        **numbers.name_thresholds(),
    }
    answer = numbers.judge_rise(shared - own)
    if not revealed(text, "shared_keys", ANSWERS, answer, **named):
        return
    from explainers.charts.bars import draw_bars, make_amount_rows

    losses = {
        _("all keys"): full,
        _("one set for all {heads} heads", heads=NUM_HEADS): shared,
        _("each head its own set"): own,
    }
    listed = ", ".join(f"{name} {loss:.3f}" for name, loss in losses.items())
    alt = _("The loss with {kept} keys: {listed}", kept=USUAL, listed=listed)
    rows = make_amount_rows([(name, round(loss, 3)) for name, loss in losses.items()])
    look = {"length": len(losses), "x_title": _("loss of the model, with the best keys")}
    show_chart(draw_bars, rows, alt, "shared keys", shipped_run(MODEL), **look)


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
