"""Scaled dot-product attention (Vaswani et al. 2017, "Attention Is All You Need", eq. 1).

>>> query, key = torch.eye(2), torch.eye(2)
>>> value = torch.tensor([[1.0], [3.0]])
>>> attention(query, key, value, torch.ones(2, 2).bool()).output
tensor([[1.6605],
        [2.3395]])
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor


class Attention(NamedTuple):
    """What one call computed, in the order it was computed."""

    scores: Tensor
    weights: Tensor
    output: Tensor


def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Attention:
    """Mix the values, weighted by how well each key matches the query.

    query (..., q_len, head_dim), key (..., kv_len, head_dim), value (..., kv_len, value_dim),
    mask boolean (q_len, kv_len) or with leading axes, True = may attend. Build masks with
    `masks.build`, which refuses one that leaves a query nothing: its row would be 0/0.
    """
    head_dim = query.shape[-1]
    scores = query @ key.transpose(-2, -1) / math.sqrt(head_dim)  # (..., q_len, kv_len)
    masked = scores.masked_fill(~mask, -torch.inf)  # (..., q_len, kv_len)
    weights = masked.softmax(dim=-1)  # (..., q_len, kv_len)
    output = weights @ value  # (..., q_len, value_dim)
    return Attention(scores, weights, output)
