"""What to try in place of learned attention weights, to see whether the translation needs them.

Each is called as `attention()` is; the scores that it returns are the learned ones. Permuted
weights are Jain & Wallace's (2019) test, uniform ones Wiegreffe & Pinter's (2019).
"""

import torch
from torch import Tensor

from explainers.attention.scaled_dot_product import Attention, attention
from explainers.examples import generator


def uniform(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Attention:
    """Every word that may be seen gets the same share."""
    learned = attention(query, key, value, mask)
    allowed = mask.expand_as(learned.weights).to(value.dtype)
    return _mixed(learned, allowed / allowed.sum(dim=-1, keepdim=True), value)


def only_peak(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Attention:
    """The largest weight becomes 1, all others 0."""
    learned = attention(query, key, value, mask)
    peak = learned.weights.argmax(dim=-1, keepdim=True)
    return _mixed(learned, torch.zeros_like(learned.weights).scatter(-1, peak, 1.0), value)


def permuted(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Attention:
    """The same weights, in each row handed to other words: the same ones in all heads.

    A row's exchange depends on its place alone, so that writing step by step gives the same
    weights as one pass over all rows.
    """
    learned = attention(query, key, value, mask)
    allowed = mask.expand_as(learned.weights)
    q_len, kv_len = allowed.shape[-2:]
    drawn = torch.rand(q_len, kv_len, generator=generator("exchanged weights")).to(value.device)
    shuffled = drawn.masked_fill(~allowed, 2.0).argsort(dim=-1)
    in_order = (~allowed).to(torch.uint8).argsort(dim=-1, stable=True)
    taken = learned.weights.gather(-1, shuffled)
    return _mixed(learned, torch.zeros_like(taken).scatter(-1, in_order, taken), value)


def _mixed(learned: Attention, weights: Tensor, value: Tensor) -> Attention:
    return Attention(learned.scores, weights, weights @ value)
