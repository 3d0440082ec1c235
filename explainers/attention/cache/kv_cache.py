"""The KV cache: what was computed for earlier tokens is kept (Shazeer 2019, section 2.4).

A token's key and value depend on it and on earlier tokens only, as long as attention is causal.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.grouped_query import share
from explainers.attention.layer import MultiHead
from explainers.attention.multi_head import merge_heads, split_heads
from explainers.attention.rotary import angles, rotate
from explainers.attention.rules import Rule
from explainers.attention.scaled_dot_product import Attention, attention
from explainers.attention.single_head import Projections

LONGEST = 10_000.0  # the base of RoPE in its paper


class Cache(NamedTuple):
    """A row for each token, in each KV head, and how many tokens were read: the next one's place.

    Queries are used once and forgotten.
    """

    key: Tensor
    value: Tensor
    seen: int


class Read(NamedTuple):
    """What one layer made of the new tokens, and the cache as it is now."""

    query: Tensor
    weights: Tensor
    output: Tensor
    cache: Cache


def empty_cache(x: Tensor, layer: MultiHead) -> Cache:
    """No row yet, for tokens like `x` (..., q_len, d_model)."""
    axes = *x.shape[:-2], layer.num_kv_heads, 0, layer.head_dim
    nothing = x.new_zeros(axes)  # (..., kv_heads, 0, head_dim)
    return Cache(nothing, nothing, seen=0)


def project_at(x: Tensor, layer: MultiHead, position: int, longest: float = LONGEST) -> Projections:
    """Queries, keys and values of tokens of which the first stands at `position`; RoPE turns."""
    places = torch.arange(position, position + x.shape[-2], device=x.device)  # (q_len,)
    angle = angles(places, layer.head_dim, longest)  # (q_len, pairs)
    query = rotate(split_heads(x @ layer.w_query, layer.head_dim), angle)
    key = rotate(split_heads(x @ layer.w_key, layer.head_dim), angle)
    value = split_heads(x @ layer.w_value, layer.head_dim)  # (..., kv_heads, q_len, head_dim)
    return Projections(query, key, value)


def append(cache: Cache, key: Tensor, value: Tensor) -> Cache:
    """New rows behind the old ones. This copies; engines write into memory set aside before."""
    keys = torch.cat([cache.key, key], dim=-2)  # (..., kv_heads, kv_len, head_dim)
    values = torch.cat([cache.value, value], dim=-2)  # (..., kv_heads, kv_len, head_dim)
    return Cache(keys, values, cache.seen + key.shape[-2])


def look_up(query: Tensor, cache: Cache, layer: MultiHead, mask: Tensor) -> Attention:
    """The new queries read the rows that are kept."""
    keys, values = share(cache.key, layer.group_size), share(cache.value, layer.group_size)
    return attention(query, keys, values, mask.to(query.device))


def read(x: Tensor, layer: MultiHead, cache: Cache, rule: Rule, longest: float = LONGEST) -> Read:
    """Read new tokens `x` (..., q_len, d_model): one while writing, at first a whole prompt."""
    query, key, value = project_at(x, layer, position=cache.seen, longest=longest)
    cache = append(cache, key, value)
    mask = masks.build(rule, x.shape[-2], cache.seen)
    _, weights, per_head = look_up(query, cache, layer, mask)
    output = merge_heads(per_head) @ layer.w_output  # (..., q_len, d_model)
    return Read(query, weights, output, cache)
