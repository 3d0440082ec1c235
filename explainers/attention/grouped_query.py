"""Heads that share keys and values: GQA (Ainslie et al. 2023) and MQA (Shazeer 2019).

>>> import torch
>>> key = torch.tensor([[[1.0]], [[2.0]]])  # two KV heads of one key
>>> share(key, group_size=2).flatten()
tensor([1., 1., 2., 2.])
>>> cache_elements(tokens=10, num_kv_heads=2, head_dim=4)
160
"""

from dataclasses import replace

from torch import Tensor

from explainers.attention.layer import MultiHead
from explainers.attention.multi_head import ManyHeads, merge_heads, split_heads
from explainers.attention.scaled_dot_product import attention


def share(key: Tensor, group_size: int) -> Tensor:
    """Give each query head its group's KV head: a group of two reads 0 0 1 1 2 2."""
    shared = key.repeat_interleave(group_size, dim=-3)  # (..., heads, q_len, head_dim)
    return shared


def share_wrongly(key: Tensor, group_size: int) -> Tensor:
    """The classic mistake: `repeat` deals the KV heads out in turn, 0 1 2 0 1 2.

    The shapes are right and no error comes, but most heads read another group's keys.
    """
    repeats = [1] * (key.dim() - 3) + [group_size, 1, 1]
    shared = key.repeat(repeats)  # (..., heads, q_len, head_dim)
    return shared


def grouped_query(x: Tensor, layer: MultiHead, mask: Tensor) -> ManyHeads:
    """Multi-head attention in which each KV head serves a group of neighbouring query heads.

    Only the KV heads are returned, and would be cached; sharing them out is left to this function.
    """
    query = split_heads(x @ layer.w_query, layer.head_dim)  # (..., heads, q_len, head_dim)
    key = split_heads(x @ layer.w_key, layer.head_dim)  # (..., kv_heads, q_len, head_dim)
    value = split_heads(x @ layer.w_value, layer.head_dim)  # (..., kv_heads, q_len, head_dim)
    shared_key = share(key, layer.group_size)  # (..., heads, q_len, head_dim)
    shared_value = share(value, layer.group_size)  # (..., heads, q_len, head_dim)
    scores, weights, per_head = attention(query, shared_key, shared_value, mask)
    output = merge_heads(per_head) @ layer.w_output  # (..., q_len, d_model)
    return ManyHeads(query, key, value, scores, weights, per_head, output)


def average_kv_heads(layer: MultiHead, num_kv_heads: int) -> MultiHead:
    """Start GQA from a trained layer: each group gets the mean of its heads' projections.

    Section 2.1 of Ainslie et al.; a short training afterwards ("uptraining") mends the loss.
    """
    if num_kv_heads < 1 or layer.num_kv_heads % num_kv_heads:
        raise ValueError(f"{layer.num_kv_heads} KV heads cannot be averaged into {num_kv_heads}")
    groups = (len(layer.w_key), num_kv_heads, -1, layer.head_dim)
    w_key = layer.w_key.view(groups).mean(dim=-2).flatten(-2)
    w_value = layer.w_value.view(groups).mean(dim=-2).flatten(-2)
    return replace(layer, w_key=w_key, w_value=w_value)


def cache_elements(tokens: int, num_kv_heads: int, head_dim: int) -> int:
    """How many numbers are kept for later queries: a key and a value per token and KV head."""
    return 2 * tokens * num_kv_heads * head_dim
