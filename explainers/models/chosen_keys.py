"""Changes in which a real model reads few of its keys."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from explainers.attention.eviction import evict_least_read
from explainers.attention.indexer import (
    Indexer,
    IndexInputs,
    index_scores,
    keep_best,
    project_index,
)
from explainers.attention.key_blocks import choose_blocks, score_blocks
from explainers.attention.rotary import angles
from explainers.attention.scaled_dot_product import Attention
from explainers.models.attention_hook import (
    AttentionCall,
    Change,
    repeat_kv_heads,
    replace_weights,
    run_model,
)

LONGEST = 10_000.0
"""As DeepSeek-V3.2 turns the first half of each index key."""
_inputs_read: ContextVar[dict[int, Tensor] | None] = ContextVar("inputs read", default=None)


@contextmanager
def watch_inputs(model: Any) -> Iterator[Mapping[int, Tensor]]:
    """By layer: what its attention reads (tokens, d_model) in this thread's run."""
    read: dict[int, Tensor] = {}
    handles = [
        layer.self_attn.register_forward_pre_hook(partial(_note_input, index), with_kwargs=True)
        for index, layer in enumerate(model.model.layers)
    ]
    token = _inputs_read.set(read)
    try:
        yield read
    finally:
        _inputs_read.reset(token)
        for handle in handles:
            handle.remove()


def _note_input(index: int, _module: nn.Module, args: Any, given: Mapping[str, Any]) -> None:
    # Visitors share a model: the hook of one also runs in the thread of another.
    if (read := _inputs_read.get()) is not None:
        read[index] = (given["hidden_states"] if "hidden_states" in given else args[0])[0].float()


def project_text(x: Tensor, indexer: Indexer) -> IndexInputs:
    """What an indexer compares in a text (length, d_model), half of each key turned."""
    index_dim = indexer.w_key.shape[-1]
    positions = torch.arange(len(x), device=x.device)
    return project_index(x, indexer, angles(positions, index_dim // 2, LONGEST))


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
