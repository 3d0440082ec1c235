"""Caches that stop growing: a ring of slots (Jiang et al. 2023), sinks (Xiao et al. 2023).

>>> [slot_of(position, sinks=1, window=2) for position in range(6)]
[0, 1, 2, 1, 2, 1]
"""

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.cache.kv_cache import Cache, Read, look_up, project_at
from explainers.attention.layer import MultiHead
from explainers.attention.multi_head import merge_heads
from explainers.attention.rules import Rule


def sinks_and_window(sinks: int, width: int) -> Rule:
    """A token sees the first `sinks` tokens, itself and the `width - 1` tokens before it."""
    return masks.causal & Rule(
        lambda query_pos, key_pos: _is_kept(query_pos, key_pos, sinks, width)
    )


def _is_kept(query_pos: Tensor, key_pos: Tensor, sinks: int, width: int) -> Tensor:
    return (key_pos < sinks) | (key_pos > query_pos - width)


def empty_ring(x: Tensor, layer: MultiHead, slots: int) -> Cache:
    """All the memory that will ever be needed, for tokens like `x` (..., q_len, d_model)."""
    axes = *x.shape[:-2], layer.num_kv_heads, slots, layer.head_dim
    zeros = x.new_zeros(axes)  # (..., kv_heads, slots, head_dim)
    return Cache(zeros, zeros, seen=0)


def slot_of(position: int, sinks: int, window: int) -> int:
    """Where a token's row is written: the first `sinks` stay, then the slots go round."""
    return position if position < sinks else sinks + (position - sinks) % window


def put(rows: Tensor, row: Tensor, slot: int) -> Tensor:
    """Overwrite one slot. (On a copy, so that the page can show the steps before as well.)"""
    place = torch.tensor([slot], device=rows.device)  # (1,)
    written = rows.index_copy(-2, place, row)  # (..., kv_heads, slots, head_dim)
    return written


def read_ring(x: Tensor, layer: MultiHead, ring: Cache, sinks: int) -> Read:
    """Read one token. The slots stand in no order, and need none: RoPE has turned each key
    by its own place before it was written, and a sum does not ask for the order of its terms.
    """
    slots = ring.key.shape[-2]
    if x.shape[-2] != 1 or not 0 <= sinks < slots:
        raise ValueError(f"{x.shape[-2]} tokens at once, {sinks} of {slots} slots for sinks")
    query, key, value = project_at(x, layer, position=ring.seen)
    slot = slot_of(ring.seen, sinks, slots - sinks)
    ring = Cache(put(ring.key, key, slot), put(ring.value, value, slot), ring.seen + 1)
    filled = min(ring.seen, slots)
    kept = Cache(ring.key[..., :filled, :], ring.value[..., :filled, :], ring.seen)
    mask = masks.build(masks.full, 1, filled)
    _, weights, per_head = look_up(query, kept, layer, mask)
    output = merge_heads(per_head) @ layer.w_output  # (..., q_len, d_model)
    return Read(query, weights, output, ring)
