"""The index scores of a query, and the keys that are kept."""

from torch import Tensor

from explainers.attention.indexer import index_scores, keep_best


def choose_keys(
    query: Tensor, key: Tensor, share: Tensor, weights: Tensor, mask: Tensor, kept: int
) -> dict[str, Tensor]:
    """What an indexer keeps, what the weights would keep, and how much weight is on both."""
    scores = index_scores(query, key, share)
    found, best = keep_best(scores, kept, mask), keep_best(weights, kept, mask)
    on_found, on_best = ((weights * chosen).sum(dim=-1) for chosen in (found, best))
    return {"scores": scores, "kept": found, "weight kept": on_found, "oracle": on_best}
