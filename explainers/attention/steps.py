"""Scaled dot-product attention one operation at a time (Vaswani et al. 2017, figure 2 left).

>>> scores = torch.tensor([[0.0, 2.0]])
>>> softmax(hide(scores, torch.tensor([[True, False]])))
tensor([[1., 0.]])
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor


class Steps(NamedTuple):
    """Every intermediate matrix of one head, in the order it was computed."""

    products: Tensor
    scores: Tensor
    masked: Tensor
    weights: Tensor
    output: Tensor


def dot_products(query: Tensor, key: Tensor) -> Tensor:
    """How well each query matches each key: one dot product per pair."""
    products = query @ key.transpose(-2, -1)  # (..., q_len, kv_len)
    return products


def scale(products: Tensor, head_dim: int) -> Tensor:
    """Divide by √d_k, so that the spread of the scores does not grow with d_k."""
    scores = products / math.sqrt(head_dim)  # (..., q_len, kv_len)
    return scores


def hide(scores: Tensor, mask: Tensor) -> Tensor:
    """Give −∞ to every pair the mask forbids: e to the −∞ is exactly 0."""
    masked = scores.masked_fill(~mask, -torch.inf)  # (..., q_len, kv_len)
    return masked


def softmax(masked: Tensor) -> Tensor:
    """Turn each row into shares that sum to 1, largest for the largest score."""
    largest = masked.amax(dim=-1, keepdim=True)  # (..., q_len, 1)
    powers = torch.exp(masked - largest)  # (..., q_len, kv_len)
    weights = powers / powers.sum(dim=-1, keepdim=True)  # (..., q_len, kv_len)
    return weights


def mix(weights: Tensor, value: Tensor) -> Tensor:
    """Average the values, each counted by its weight."""
    output = weights @ value  # (..., q_len, value_dim)
    return output


def attention_steps(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Steps:
    """The same result as `attention()`, with nothing in between left out."""
    products = dot_products(query, key)  # (..., q_len, kv_len)
    scores = scale(products, head_dim=query.shape[-1])  # (..., q_len, kv_len)
    masked = hide(scores, mask)  # (..., q_len, kv_len)
    weights = softmax(masked)  # (..., q_len, kv_len)
    output = mix(weights, value)  # (..., q_len, value_dim)
    return Steps(products, scores, masked, weights, output)


OPERATIONS: dict[str, tuple[Callable[..., Tensor], ...]] = {
    "products": (dot_products,),
    "scores": (scale,),
    "weights": (hide, softmax),
    "output": (mix,),
}
"""What `attention_steps` calls on the way to each matrix."""


def masked_before(scores: Tensor, mask: Tensor) -> Tensor:
    """Hide first, then share out: what may not be seen has no part in any weight."""
    masked = scores.masked_fill(~mask, -torch.inf)  # (..., q_len, kv_len)
    weights = masked.softmax(dim=-1)  # (..., q_len, kv_len)
    return weights


def masked_after(scores: Tensor, mask: Tensor) -> Tensor:
    """The wrong order: share out among all, then put 0 where nothing may be seen.

    The softmax's denominator has already counted the hidden keys. So a row sums to less than 1,
    and the weights that are left still depend on hidden, later tokens: a model could read from
    them what it must predict. Dividing each row by its sum again would be `masked_before`, in
    more steps, and 0/0 where a hidden score was much the largest.
    """
    weights = scores.softmax(dim=-1)  # (..., q_len, kv_len)
    shown = weights.masked_fill(~mask, 0.0)  # (..., q_len, kv_len)
    return shown
