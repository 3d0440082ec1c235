"""The delta rule: overwrite what comes again, and fade (Yang et al. 2024, Gated Delta Networks).

>>> key, new, one = torch.tensor([0.0, 1.0]), torch.tensor([7.0]), torch.ones(())
>>> write_delta(torch.tensor([[0.0, 5.0]]), key, new, one, one)  # 5 is overwritten
tensor([[0., 7.]])
"""

import torch
from torch import Tensor

from explainers.attention.linear import read_state, write_sum

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
