"""Linear attention (Katharopoulos et al. 2020, 3.4), and by the delta rule (Yang et al. 2024).

A matrix that every word adds to, or in which it overwrites what comes again, and which fades.

>>> key, one = torch.tensor([0.0, 1.0]), torch.ones(())
>>> state = write_sum(torch.zeros(1, 2), key, torch.tensor([5.0]))
>>> read_state(state, key)
tensor([5.])
>>> write_delta(state, key, torch.tensor([7.0]), one, one)  # 5 is overwritten
tensor([[0., 7.]])
"""

import torch
from torch import Tensor


def write_sum(state: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Add what one word brings, the outer product of its value and its key (equation 18).

    key (..., head_dim), value (..., value_dim); the state has the same size after any text.
    """
    written = value[..., :, None] * key[..., None, :]  # (..., value_dim, head_dim)
    added = state + written  # (..., value_dim, head_dim)
    return added


def read_state(state: Tensor, query: Tensor) -> Tensor:
    """What the memory answers to a query: each row's dot product with it (equation 20)."""
    answer = (state @ query[..., None])[..., 0]  # (..., value_dim)
    return answer


def linear_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """All words at once: attention without softmax, whose weights are the products themselves.

    Under a causal mask it gives what `write_sum` and `read_state` give word by word. The paper's
    φ(x) = elu(x) + 1 and its division by the sum of a row are left out, as newer models do.
    """
    products = query @ key.transpose(-2, -1)  # (..., q_len, kv_len)
    weights = products.masked_fill(~mask, 0.0)  # (..., q_len, kv_len)
    output = weights @ value  # (..., q_len, value_dim)
    return output


SMALLEST = 1e-30
"""A share that is kept and no number can tell from nothing; the logarithm of 0 would spoil all."""


def write_delta(state: Tensor, key: Tensor, value: Tensor, beta: Tensor, keep: Tensor) -> Tensor:
    """Look up what the key finds now, and write only what is missing (equation 10).

    beta (...) from 0 to 1: how much of it is written; keep (...) from 0 to 1: what is left of the
    state before. With both 1 it is the rule of Schlag et al. 2021.
    """
    faded = keep[..., None, None] * state  # (..., value_dim, head_dim)
    found = read_state(faded, key)  # (..., value_dim)
    missing = beta[..., None] * (value - found)  # (..., value_dim)
    written = write_sum(faded, key, missing)  # (..., value_dim, head_dim)
    return written


def find_news(key: Tensor, value: Tensor, beta: Tensor, fade: Tensor) -> Tensor:
    """What each word writes: its value without what the words before it say already (section 3.2).

    Every word's news depends on the earlier words' news: one triangular system of equations.
    """
    overlap = (key @ key.transpose(-2, -1) * fade).tril(-1)  # (..., length, length)
    one = torch.eye(overlap.shape[-1], device=key.device, dtype=key.dtype)  # (length, length)
    known = one + beta[..., None] * overlap  # (..., length, length)
    asked = beta[..., None] * value  # (..., length, value_dim)
    news = torch.linalg.solve_triangular(known, asked, upper=False)  # (..., length, value_dim)
    return news


def gated_delta_attention(
    query: Tensor, key: Tensor, value: Tensor, beta: Tensor, keep: Tensor
) -> Tensor:
    """All words at once: what `write_delta` and `read_state` give word by word.

    query, key (..., length, head_dim), value (..., length, value_dim); beta and keep (..., length),
    0 to 1. It is causal linear attention on the news, faded by age.
    """
    age = keep.clamp_min(SMALLEST).log().cumsum(dim=-1)  # (..., length)
    since = (age[..., :, None] - age[..., None, :]).tril()  # (..., length, length)
    fade = since.exp().tril()  # (..., length, length)
    news = find_news(key, value, beta, fade)  # (..., length, value_dim)
    weights = query @ key.transpose(-2, -1) * fade  # (..., length, length)
    output = weights @ news  # (..., length, value_dim)
    return output
