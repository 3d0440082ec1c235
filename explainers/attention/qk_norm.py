"""Queries and keys of one length: QK-norm (Henry et al. 2020), by RMS (Zhang and Sennrich 2019).

>>> rms_norm(torch.tensor([3.0, 4.0]), torch.ones(2)).square().mean()
tensor(1.0000)
"""

import math

import torch
from torch import Tensor

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
