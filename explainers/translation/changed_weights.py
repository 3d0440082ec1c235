"""Ablations of cross-attention: weights replaced by others, and words left out one by one."""

import torch
from torch import Tensor

from explainers.attention.scaled_dot_product import Attention, attention
from explainers.toys.examples import make_generator


def uniform_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Attention:
    """Attention whose weights are the same for all visible words."""
    original = attention(query, key, value, mask)
    allowed = mask.expand_as(original.weights).to(value.dtype)
    return _replace_weights(original, allowed / allowed.sum(dim=-1, keepdim=True), value)


def peak_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Attention:
    """Attention whose largest weight becomes 1 and all others 0."""
    original = attention(query, key, value, mask)
    peak = original.weights.argmax(dim=-1, keepdim=True)
    return _replace_weights(
        original, torch.zeros_like(original.weights).scatter(-1, peak, 1.0), value
    )


def permuted_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Attention:
    """Attention whose weights are permuted within each row, alike in all heads.

    A row's permutation depends on its position alone, so that writing step by step gives the same
    weights as one pass over all rows.
    """
    original = attention(query, key, value, mask)
    allowed = mask.expand_as(original.weights)
    q_len, kv_len = allowed.shape[-2:]
    random_order = torch.rand(q_len, kv_len, generator=make_generator("exchanged weights")).to(
        value.device
    )
    shuffled_keys = random_order.masked_fill(~allowed, 2.0).argsort(dim=-1)
    visible_keys = (~allowed).to(torch.uint8).argsort(dim=-1, stable=True)
    shuffled_weights = original.weights.gather(-1, shuffled_keys)
    return _replace_weights(
        original,
        torch.zeros_like(shuffled_weights).scatter(-1, visible_keys, shuffled_weights),
        value,
    )


def _replace_weights(original: Attention, weights: Tensor, value: Tensor) -> Attention:
    return Attention(original.scores, weights, weights @ value)
