"""Many heads side by side, each with its own projections (Vaswani et al. 2017, section 3.2.2)."""

from typing import NamedTuple

import torch
from torch import Tensor

from explainers.attention.layer import MultiHead, check_heads, check_sharing
from explainers.attention.scaled_dot_product import attention
from explainers.attention.single_head import SingleHead, project


class ManyHeads(NamedTuple):
    """What one layer computed, in the order it was computed."""

    query: Tensor
    key: Tensor
    value: Tensor
    scores: Tensor
    weights: Tensor
    per_head: Tensor
    output: Tensor


def split_heads(x: Tensor, head_dim: int) -> Tensor:
    """Cut each vector into heads. Nothing is copied: the parts are another view of `x`."""
    check_heads(x.shape[-1], head_dim, "whole")
    parts = x.view(*x.shape[:-1], -1, head_dim)  # (..., q_len, heads, head_dim)
    heads = parts.transpose(-3, -2)  # (..., heads, q_len, head_dim)
    return heads


def merge_heads(per_head: Tensor) -> Tensor:
    """Lay the heads side by side again. This copies: attention wrote head after head."""
    parts = per_head.transpose(-3, -2)  # (..., q_len, heads, head_dim)
    merged = parts.flatten(-2)  # (..., q_len, heads·head_dim)
    return merged


def multi_head(x: Tensor, layer: MultiHead, mask: Tensor) -> ManyHeads:
    """All heads at once: one large product each for Q, K and V, cut into heads afterwards."""
    query = split_heads(x @ layer.w_query, layer.head_dim)  # (..., heads, q_len, head_dim)
    key = split_heads(x @ layer.w_key, layer.head_dim)  # (..., heads, q_len, head_dim)
    value = split_heads(x @ layer.w_value, layer.head_dim)  # (..., heads, q_len, head_dim)
    scores, weights, per_head = attention(query, key, value, mask)
    output = merge_heads(per_head) @ layer.w_output  # (..., q_len, d_model)
    return ManyHeads(query, key, value, scores, weights, per_head, output)


def multi_head_one_by_one(x: Tensor, layer: MultiHead, mask: Tensor) -> ManyHeads:
    """The same numbers from a list of heads, each computed alone."""
    matrices = (layer.w_query, layer.w_key, layer.w_value)
    columns = [torch.split(matrix, layer.head_dim, dim=-1) for matrix in matrices]
    heads = [SingleHead(*own) for own in zip(*columns, strict=True)]
    x = x.unsqueeze(-3)  # (..., 1, q_len, d_model)
    projected = [project(x, head) for head in heads]
    attended = [attention(*views, mask) for views in projected]
    query, key, value = (torch.cat(alike, dim=-3) for alike in zip(*projected, strict=True))
    scores, weights, per_head = (torch.cat(alike, dim=-3) for alike in zip(*attended, strict=True))
    side_by_side = torch.cat([one.output for one in attended], dim=-1).squeeze(-3)
    output = side_by_side @ layer.w_output  # (..., q_len, d_model)
    return ManyHeads(query, key, value, scores, weights, per_head, output)


def contributions(per_head: Tensor, w_output: Tensor) -> Tensor:
    """What each head adds to the output through its rows of W_O; all together are the output."""
    heads, head_dim = per_head.shape[-3], per_head.shape[-1]
    rows = w_output.view(heads, head_dim, -1)  # (heads, head_dim, d_model)
    added = per_head @ rows  # (..., heads, q_len, d_model)
    return added


def parameters(d_model: int, num_heads: int, num_kv_heads: int, head_dim: int) -> int:
    """How many numbers the four matrices hold; 4·d_model² if heads of d_k fill d_model."""
    check_sharing(num_heads, num_kv_heads)
    return 2 * d_model * head_dim * (num_heads + num_kv_heads)
