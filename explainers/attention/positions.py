"""Sinusoidal positions (Vaswani et al. 2017, section 3.5), and what is lost without them.

>>> sinusoidal(length=2, d_model=2, longest=10_000.0)
tensor([[0.0000, 1.0000],
        [0.8415, 0.5403]])
"""

from typing import NamedTuple

import torch
from torch import Tensor

from explainers.attention.single_head import SingleHead, single_head


def sinusoidal(length: int, d_model: int, longest: float) -> Tensor:
    """A vector per position: pairs of sine and cosine, each pair slower than the one before.

    The first pair turns once in 2π positions, pair i is `longest` to the (2i / d_model) times
    slower (the paper takes 10,000). Column 2i holds sines, column 2i + 1 cosines.
    """
    position = torch.arange(length, dtype=torch.float32)[:, None]  # (length, 1)
    column = torch.arange(d_model)[None, :]  # (1, d_model)
    pair = column - column % 2  # (1, d_model)
    angle = position / longest ** (pair / d_model)  # (length, d_model)
    vectors = torch.where(column % 2 == 0, angle.sin(), angle.cos())  # (length, d_model)
    return vectors


class Reordered(NamedTuple):
    """Outputs of the same tokens in two orders, rows matched by token."""

    before: Tensor
    after: Tensor


def reorder(x: Tensor, places: Tensor, head: SingleHead, mask: Tensor, order: Tensor) -> Reordered:
    """Shuffle the tokens but not their places, and compare what each token gets.

    x and places (length, d_model); `order` (length,) holds the token that comes first, second, …
    Without places (all zero) and without a mask, attention cannot tell the two orders apart.
    """
    before = single_head(x + places, head, mask).output  # (length, value_dim)
    after = single_head(x[order] + places, head, mask).output  # (length, value_dim)
    return Reordered(before[order], after)
