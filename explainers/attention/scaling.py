"""Why √d_k: scores, weights and gradients as d_k grows (Vaswani et al. 2017, section 3.2.1).

>>> with_temperature(torch.tensor([[2.0, 4.0]]), 2.0)
tensor([[0.2689, 0.7311]])
>>> largest_weight(torch.tensor([[0.0, 0.0]]))
tensor([0.5000])
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor


class Draws(NamedTuple):
    """Many independent queries, each scored against its own keys, without and with the root."""

    products: Tensor
    scores: Tensor


def random_scores(head_dim: int, kv_len: int, draws: int, generator: torch.Generator) -> Draws:
    """Dot products of vectors whose entries are independent with mean 0 and variance 1."""
    query = torch.randn(draws, 1, head_dim, generator=generator)  # (draws, 1, head_dim)
    key = torch.randn(draws, kv_len, head_dim, generator=generator)  # (draws, kv_len, head_dim)
    products = (query * key).sum(dim=-1)  # (draws, kv_len)
    return Draws(products, scores=products / math.sqrt(head_dim))


def largest_weight(scores: Tensor) -> Tensor:
    """The largest share in each row after the softmax."""
    largest = scores.softmax(dim=-1).amax(dim=-1)  # (draws,)
    return largest


def gradient_size(scores: Tensor) -> Tensor:
    """How strongly a row of weights reacts to its scores: the norm of the softmax's Jacobian.

    The Jacobian of weights w is diag(w) − w wᵀ; it vanishes when one weight is 1.
    """
    weights = scores.softmax(dim=-1)  # (draws, kv_len)
    outer = weights[..., :, None] * weights[..., None, :]  # (draws, kv_len, kv_len)
    jacobian = torch.diag_embed(weights) - outer  # (draws, kv_len, kv_len)
    size = jacobian.norm(dim=(-2, -1))  # (draws,)
    return size


def with_temperature(products: Tensor, temperature: float) -> Tensor:
    """Softmax of Q · Kᵀ divided by a temperature; attention's temperature is √d_k."""
    weights = (products / temperature).softmax(dim=-1)  # (..., q_len, kv_len)
    return weights


class Measured(NamedTuple):
    """What many draws at one d_k gave, without and with the root."""

    head_dim: int
    variance: tuple[float, float]
    largest: tuple[Tensor, Tensor]
    gradient: tuple[float, float]


def measure(head_dim: int, kv_len: int, draws: int, generator: torch.Generator) -> Measured:
    """Variance of the scores, largest weight of each row, mean size of the softmax's gradient."""
    unscaled, scaled = random_scores(head_dim, kv_len, draws, generator)
    return Measured(
        head_dim,
        variance=(unscaled.var().item(), scaled.var().item()),
        largest=(largest_weight(unscaled), largest_weight(scaled)),
        gradient=(gradient_size(unscaled).mean().item(), gradient_size(scaled).mean().item()),
    )


EXPERIMENT = (random_scores, largest_weight, gradient_size, measure)
"""All that `measure` calls, in the order of reading."""
