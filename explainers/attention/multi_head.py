"""Many heads side by side, each with its own projections (Vaswani et al. 2017, section 3.2.2).

>>> import torch
>>> split_heads(torch.arange(6.0).reshape(1, 6), head_dim=3)  # two heads
tensor([[[0., 1., 2.]],
<BLANKLINE>
        [[3., 4., 5.]]])
>>> parameters(d_model=8, num_heads=2, num_kv_heads=1, head_dim=4)
192
"""

from typing import NamedTuple

from torch import Tensor

from explainers.attention.layer import MultiHead, check_heads, check_sharing
from explainers.attention.scaled_dot_product import attention


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
