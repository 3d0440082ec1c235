"""A whole layer with a gated delta rule, as in Qwen3-Next (Yang et al. 2024, figure 1)."""

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad, silu, softplus

from explainers.attention.delta_rule import gated_delta_attention
from explainers.attention.grouped_query import share
from explainers.attention.multi_head import merge_heads, split_heads

TINY = 1e-6


class GatedDelta(NamedTuple):
    """The layer's weights; keys have fewer heads than values, and one head of each is as long."""

    w_query: Tensor  # (d_model, key_heads·head_dim)
    w_key: Tensor  # (d_model, key_heads·head_dim)
    w_value: Tensor  # (d_model, heads·head_dim)
    w_gate: Tensor  # (d_model, heads·head_dim)
    w_beta: Tensor  # (d_model, heads)
    w_fade: Tensor  # (d_model, heads)
    kernels: tuple[Tensor, Tensor, Tensor]  # of query, key and value, (taps, their width)
    rate: Tensor  # (heads,)
    bias: Tensor  # (heads,)
    gain: Tensor  # (head_dim,)
    w_output: Tensor  # (heads·head_dim, d_model)
    head_dim: int


def mix_neighbours(x: Tensor, kernel: Tensor) -> Tensor:
    """A short causal convolution: each column mixes its last few words; kernel (taps, width)."""
    taps = len(kernel)
    padded = pad(x, (0, 0, taps - 1, 0))
    windows = padded.unfold(-2, taps, 1)  # (..., length, width, taps)
    mixed = silu((windows * kernel.T).sum(dim=-1))  # (..., length, width)
    return mixed


def to_length_one(x: Tensor) -> Tensor:
    """Each row with length 1, so that a key finds exactly what it has written."""
    unit = x * torch.rsqrt(x.pow(2).sum(dim=-1, keepdim=True) + TINY)  # (..., length, head_dim)
    return unit


def find_gates(x: Tensor, layer: GatedDelta) -> tuple[Tensor, Tensor]:
    """How much each word writes, and how much of the memory it keeps, in each head."""
    beta = (x @ layer.w_beta).sigmoid().transpose(-2, -1)  # (..., heads, length)
    forgotten = layer.rate * softplus(x @ layer.w_fade + layer.bias)  # (..., length, heads)
    keep = torch.exp(-forgotten).transpose(-2, -1)  # (..., heads, length)
    return beta, keep


def gated_delta_layer(x: Tensor, layer: GatedDelta) -> Tensor:
    """Project, mix with neighbours, write and read the memory, normalise, gate."""
    projections = layer.w_query, layer.w_key, layer.w_value
    mixed = [mix_neighbours(x @ w, k) for w, k in zip(projections, layer.kernels, strict=True)]
    query, key, value = (split_heads(one, layer.head_dim) for one in mixed)
    group_size = value.shape[-3] // key.shape[-3]
    query = share(to_length_one(query), group_size)  # (..., heads, length, head_dim)
    key = share(to_length_one(key), group_size)  # (..., heads, length, head_dim)
    beta, keep = find_gates(x, layer)  # (..., heads, length), (..., heads, length)
    scaled = query / math.sqrt(layer.head_dim)  # (..., heads, length, head_dim)
    read = gated_delta_attention(scaled, key, value, beta, keep)  # (..., heads, length, head_dim)
    size = read.pow(2).mean(dim=-1, keepdim=True)  # (..., heads, length, 1)
    normal = read * torch.rsqrt(size + TINY) * layer.gain  # (..., heads, length, head_dim)
    gate = silu(split_heads(x @ layer.w_gate, layer.head_dim))  # (..., heads, length, head_dim)
    output = merge_heads(normal * gate) @ layer.w_output  # (..., length, d_model)
    return output
