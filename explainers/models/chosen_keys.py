"""Changes in which a real model reads few of its keys."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from explainers.attention.indexer import Indexer, IndexInputs, project_index
from explainers.attention.rotary import angles

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
