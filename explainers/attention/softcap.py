"""Scores that cannot grow without end: soft-capping (Gemma Team 2024, "Gemma 2", section 2).

>>> soft_cap(torch.tensor([0.0, 1000.0]), 50.0)
tensor([ 0., 50.])
"""

import math

import torch
from torch import Tensor

from explainers.attention.scaled_dot_product import Attention


def soft_cap(scores: Tensor, cap: float) -> Tensor:
    """Squeeze scores into (−cap, cap): small ones stay as they are, large ones press together."""
    if cap <= 0:
        raise ValueError(f"a cap of {cap} leaves no scores: it must be above 0")
    capped = cap * torch.tanh(scores / cap)  # (..., q_len, kv_len)
    return capped


def capped_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, cap: float
) -> Attention:
    """Scaled dot-product attention in which no score is beyond ±cap; Gemma 2 takes 50.

    No weight can then be more than e^(2·cap) times another one that may be looked at.
    """
    products = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])  # (..., q_len, kv_len)
    scores = soft_cap(products, cap)  # (..., q_len, kv_len)
    masked = scores.masked_fill(~mask, -torch.inf)  # (..., q_len, kv_len)
    weights = masked.softmax(dim=-1)  # (..., q_len, kv_len)
    output = weights @ value  # (..., q_len, value_dim)
    return Attention(scores, weights, output)
