"""To take away: the index scores of the shown query, and the keys that are kept."""

from typing import Any

from torch import Tensor

from explainers.attention.indexer import index_scores, keep_best
from explainers.models.shipped_indexers import Passage
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.takeaway_files import take


def choose_keys(
    query: Tensor, key: Tensor, share: Tensor, weights: Tensor, mask: Tensor, kept: int
) -> dict[str, Tensor]:
    """What an indexer keeps, what the weights would keep, and how much weight is on both."""
    scores = index_scores(query, key, share)
    found, best = keep_best(scores, kept, mask), keep_best(weights, kept, mask)
    on_found, on_best = ((weights * chosen).sum(dim=-1) for chosen in (found, best))
    return {"scores": scores, "kept": found, "weight kept": on_found, "oracle": on_best}


def take_query(passage: Passage, query: int, kept: int) -> None:
    """One query: its weights came from the model, its scores are computed again."""
    inputs: dict[str, Any] = {
        "query": passage.inputs.query[:, query : query + 1],
        "key": passage.inputs.key[: query + 1],
        "share": passage.inputs.share[query : query + 1],
        "weights": passage.weights[query : query + 1, : query + 1],
        "mask": passage.weights[query : query + 1, : query + 1] > -1,
        "kept": kept,
    }
    shown = choose_keys(**inputs)
    title = _("The keys of token {place}", place=query + 1)
    take("choosing", Recipe(title, choose_keys, inputs, shown))
