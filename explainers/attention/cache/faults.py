"""Mistakes in a KV cache that raise no error: each differs from `cache.read` in one place."""

import torch
from torch import Tensor

from explainers.attention.cache.kv_cache import Cache, Read, append, look_up, project_at
from explainers.attention.layer import MultiHead
from explainers.attention.multi_head import merge_heads

LOST = 1
"""The row that is dropped, from 0."""


def forget_offset(x: Tensor, layer: MultiHead, cache: Cache) -> Read:
    """Every new token is taken for the first of a text: its place is counted from 0."""
    query, key, value = project_at(x, layer, position=0)  # wrong: position=cache.seen
    cache = append(cache, key, value)
    return _answer(query, cache, cache, layer)


def drop_row(x: Tensor, layer: MultiHead, cache: Cache) -> Read:
    """One row gets lost as soon as another one has come behind it."""
    query, key, value = project_at(x, layer, position=cache.seen)
    cache = append(cache, key, value)
    if cache.seen == LOST + 2:
        cache = Cache(_without(cache.key), _without(cache.value), cache.seen)  # wrong
    return _answer(query, cache, cache, layer)


def append_after(x: Tensor, layer: MultiHead, cache: Cache) -> Read:
    """The new row is appended after the query has looked, and not before: no token sees itself.

    The first token finds an empty cache: nothing is added up, which is 0.
    """
    query, key, value = project_at(x, layer, position=cache.seen)
    kept = append(cache, key, value)
    looked_at = cache  # wrong: it should be `kept`
    return _answer(query, looked_at, kept, layer)


def _answer(query: Tensor, looked_at: Cache, kept: Cache, layer: MultiHead) -> Read:
    mask = torch.ones(1, looked_at.key.shape[-2], dtype=torch.bool)  # (1, kv_len)
    _, weights, per_head = look_up(query, looked_at, layer, mask)
    output = merge_heads(per_head) @ layer.w_output  # (..., q_len, d_model)
    return Read(query, weights, output, kept)


def _without(rows: Tensor) -> Tensor:
    return torch.cat([rows[..., :LOST, :], rows[..., LOST + 1 :, :]], dim=-2)
