"""The prediction of the page, and its two questions from memory."""

from random import Random

import torch

from explainers.attention.indexer import index_scores, keep_best
from explainers.chapters.choosing.cost_tables import NUM_HEADS
from explainers.models.shipped_indexers import KEPT, ORACLE, PROSE, USUAL, Shipped
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.provenance import shipped_run
from explainers.ui.text.numbers import (
    A_LITTLE_WORSE,
    MUCH_WORSE,
    NO_WORSE,
    judge_rise,
    name_thresholds,
    write_decimals,
)

ANSWERS = MUCH_WORSE, A_LITTLE_WORSE, NO_WORSE


def name_sharing(shipped: Shipped) -> dict[str, str]:
    """The losses of the question, for its text."""
    prose = shipped.passages[PROSE]
    return {
        "full": f"{prose.full_loss:.3f}",
        "own": f"{shipped.numbers['own'][f'{USUAL}']:.3f}",
        "shared": f"{prose.losses[ORACLE][KEPT.index(USUAL)]:.3f}",
        "kept": f"{USUAL}",
        "heads": f"{NUM_HEADS}",
        **name_thresholds(),
    }


def answer_sharing(shipped: Shipped) -> str:
    """How much worse one set of keys for all heads is than a set for each."""
    shared = shipped.passages[PROSE].losses[ORACLE][KEPT.index(USUAL)]
    return judge_rise(shared - shipped.numbers["own"][f"{USUAL}"])


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
    origin = shipped_run(shipped.numbers["model"])
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
    worked = {"first": write_decimals(keys[0]), "second": write_decimals(keys[1])}
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
