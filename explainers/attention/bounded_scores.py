"""Scores that stay small: QK-norm (Henry et al. 2020), soft-capping (Gemma Team 2024, "Gemma 2").

Vectors get one length by RMS (Zhang and Sennrich 2019); Gemma 2's cap is in its section 2.

>>> rms_norm(torch.tensor([3.0, 4.0]), torch.ones(2)).square().mean()
tensor(1.0000)
>>> soft_cap(torch.tensor([0.0, 1000.0]), 50.0)
tensor([ 0., 50.])
"""

import math

import torch
from torch import Tensor

from explainers.attention.scaled_dot_product import Attention

EPSILON = 1e-6


def rms_norm(x: Tensor, gain: Tensor) -> Tensor:
    """Each vector at length √head_dim, then one learned factor per number (2019, equation 4)."""
    mean_square = x.square().mean(dim=-1, keepdim=True)  # (..., q_len, 1)
    normed = x * torch.rsqrt(mean_square + EPSILON) * gain  # (..., q_len, head_dim)
    return normed


def largest_normed_score(query_gain: Tensor, key_gain: Tensor) -> float:
    """No score can be beyond: both vectors are at most √head_dim times their largest gain long."""
    gains = query_gain.abs().max() * key_gain.abs().max()
    return math.sqrt(query_gain.shape[-1]) * gains.item()


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
