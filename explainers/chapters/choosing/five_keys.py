"""How it works: the first five tokens of the text, from products to the keys that are kept."""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import kl_div

from explainers.attention.indexer import IndexInputs, index_scores, keep_best
from explainers.charts.matrix import Matrix
from explainers.charts.theme import KEY_AXIS
from explainers.models.shipped_indexers import MODEL, Passage
from explainers.translations import _
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.provenance import shipped_run
from explainers.ui.text.numbers import write_percent

KEYS, KEPT = 5, 2


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
    given = IndexInputs(query[..., KEYS - 1 : KEYS, :], key[:KEYS], share[KEYS - 1 : KEYS])
    products = (given.query @ given.key.mT)[:, 0] / key.shape[-1] ** 0.5
    scores = index_scores(*given)
    said, weights = scores[0].softmax(dim=-1), passage.weights[KEYS - 1, :KEYS]
    weights = weights / weights.sum()  # kept in 16 bits
    kept = keep_best(scores, KEPT, torch.ones(1, KEYS, dtype=torch.bool))[0]
    divergence = kl_div(said.log(), weights, reduction="sum").item()
    found = share[KEYS - 1], products, scores[0], said, weights, kept, divergence
    return FiveKeys(passage.tokens[:KEYS], *found, key.shape[-1])


def show_row(passage: Passage) -> dict[str, Any]:
    """Five small matrices; returns the numbers for the text."""
    row = compute_row(passage)
    alt = _("Five keys of one query: products, index scores, softmax, the heads' weights, mask.")
    show_figure(Figure(list_panels(row), alt), shipped_run(MODEL), "five keys")
    pairs = zip(row.tokens, row.kept.tolist(), strict=True)
    chosen = [token.strip() for token, is_kept in pairs if is_kept]
    return {
        "word": row.tokens[-1].strip(),
        "kept": KEPT,
        "keys": KEYS,
        "first": chosen[0],
        "second": chosen[1],
        "share": write_percent(float(row.weights[row.kept].sum())),
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
