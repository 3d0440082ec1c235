"""Which keys each policy keeps in a layer, and the queries that show best how they differ."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from explainers.attention import masks
from explainers.attention.indexer import Indexer, index_scores, keep_best
from explainers.attention.scaled_dot_product import Attention
from explainers.attention.untrained_choice import choose_blocks, evict_least_read, score_blocks
from explainers.models.attention_hook import AttentionCall, Change, repeat_kv_heads, run_model
from explainers.models.changes import replace_weights
from explainers.models.indexers import (
    FIRST,
    INDEXER,
    NUM_FIRST,
    ORACLE,
    SHORT,
    USUAL,
    WINDOW,
    Reading,
    project_text,
    watch_inputs,
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


@dataclass(frozen=True, kw_only=True)
class OracleKeys(Change):
    """The keys with the largest weights, known afterwards: one set for all heads, or for each."""

    kept: int
    is_shared: bool = True

    def change_result(self, call: AttentionCall, result: Attention) -> Attention:
        weights = result.weights.mean(dim=1, keepdim=True) if self.is_shared else result.weights
        chosen = keep_best(weights, self.kept, call.mask)
        return replace_weights(
            call, result, result.scores.masked_fill(~chosen, -torch.inf).softmax(dim=-1)
        )


@dataclass(frozen=True, kw_only=True)
class IndexedKeys(Change):
    """The keys that a trained indexer of each layer finds, one set for all heads.

    `inputs` are those of `watch_inputs` around this run.
    """

    kept: int
    indexers: Sequence[Indexer] = field(repr=False, compare=False)
    inputs: Mapping[int, Tensor] = field(repr=False, compare=False)

    def change_inputs(self, call: AttentionCall) -> AttentionCall:
        layer = call.layer_index
        scores = index_scores(*project_text(self.inputs[layer], self.indexers[layer]))
        return replace(call, mask=keep_best(scores, self.kept, call.mask))


@dataclass(frozen=True, kw_only=True)
class BlockKeys(Change):
    """Whole blocks of neighbours, each head its own: found by the mean of their keys."""

    size: int
    kept: int
    keeps_first: bool = True

    def change_inputs(self, call: AttentionCall) -> AttentionCall:
        scores = score_blocks(call.query, repeat_kv_heads(call.query, call.key), self.size)
        chosen = choose_blocks(scores, self.size, self.kept // self.size, self.keeps_first)
        return replace(call, mask=call.mask & chosen)


@dataclass(frozen=True, kw_only=True)
class EvictedKeys(Change):
    """A cache of `kept` rows for each head, half of it for the newest: the least read row goes."""

    kept: int

    def change_result(self, call: AttentionCall, result: Attention) -> Attention:
        held = evict_least_read(result.scores, self.kept, self.kept // 2)
        return replace_weights(
            call, result, result.scores.masked_fill(~held, -torch.inf).softmax(dim=-1)
        )


def compute_half_loss(model: Any, ids: Tensor, *changes: Change) -> float:
    """Mean loss of the second half of a text (1, tokens), in nats per token."""
    half = ids.shape[1] // 2
    given = {"input_ids": ids, "use_cache": False, "logits_to_keep": ids.shape[1] - half + 1}
    output, _ = run_model(model, changes=changes, record=lambda _: None, **given)
    return float(cross_entropy(output.logits[0, :-1].float(), ids[0, half:]))


def compute_indexed_loss(model: Any, ids: Tensor, indexers: Sequence[Indexer], kept: int) -> float:
    """The same where each layer reads the keys that its indexer finds."""
    with watch_inputs(model) as inputs:
        return compute_half_loss(
            model, ids, IndexedKeys(kept=kept, indexers=indexers, inputs=inputs)
        )
