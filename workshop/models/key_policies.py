"""Which keys each policy keeps in a layer, and the queries that show best how they differ."""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.indexer import Indexer, index_scores, keep_best
from explainers.models.chosen_keys import project_text
from explainers.models.indexer_training import Reading
from explainers.models.shipped_indexers import (
    FIRST,
    INDEXER,
    NUM_FIRST,
    ORACLE,
    SHORT,
    USUAL,
    WINDOW,
)


def make_policies(
    indexers: Sequence[Indexer], kept: int
) -> dict[str, Callable[[int, Reading], Tensor]]:
    """By policy: the mask of a layer's keys (length, length)."""

    def build(rule: masks.Rule, _layer: int, reading: Reading) -> Tensor:
        return masks.build(masks.causal & rule, *reading.weights.shape)

    def index(layer: int, reading: Reading) -> Tensor:
        causal = masks.build(masks.causal, *reading.weights.shape)
        inputs = project_text(reading.x, indexers[layer])
        return keep_best(index_scores(*inputs), kept, causal)

    def know(_layer: int, reading: Reading) -> Tensor:
        return keep_best(reading.weights, kept, masks.build(masks.causal, *reading.weights.shape))

    near = masks.sliding_window(kept - NUM_FIRST)
    first = masks.Rule(lambda query, key: (key < NUM_FIRST) | near(query, key))
    return {
        ORACLE: know,
        INDEXER: index,
        FIRST: partial(build, first),
        WINDOW: partial(build, masks.sliding_window(kept)),
    }


def find_telling_query(
    readings: Sequence[Reading], indexers: Sequence[Indexer], start: int
) -> tuple[int, int]:
    """The layer and the query, from `start` on, with the most weight that only its indexer finds.

    Weight that neither the first tokens nor a window hold.
    """
    policies, best = make_policies(indexers, USUAL), (0.0, 0, start)
    for layer, reading in enumerate(readings):
        found = policies[INDEXER](layer, reading) & ~policies[FIRST](layer, reading)
        weight, query = (reading.weights * found)[start:].sum(dim=-1).max(dim=0)
        best = max(best, (weight.item(), layer, start + int(query)))
    return best[1:]


def find_missed_copy(readings: Sequence[Reading], indexers: Sequence[Indexer]) -> tuple[int, int]:
    """The layer and the query, of a text that is repeated, with the most weight missed there.

    Weight on the same token of the first copy and on the one behind it, which comes next.
    """
    policies, worst = make_policies(indexers, SHORT), (0.0, 0, 0)
    for layer, reading in enumerate(readings):
        place = torch.arange(len(reading.x))
        back = place[:, None] - place - len(place) // 2
        missed = ((back == 0) | (back == -1)) & ~policies[INDEXER](layer, reading)
        missed[: len(place) // 2] = False
        weight, query = (reading.weights * missed).sum(dim=-1).max(dim=0)
        worst = max(worst, (weight.item(), layer, int(query)))
    return worst[1:]
