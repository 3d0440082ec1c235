"""Sinusoidal positions (Vaswani et al. 2017, section 3.5)."""

import torch
from torch import Tensor


def sinusoidal(length: int, d_model: int, longest: float) -> Tensor:
    """A vector per position: pairs of sine and cosine, each pair slower than the one before.

    The first pair turns once in 2π positions, the last nearly `longest` times slower
    (the paper takes 10,000). Column 2i holds sines, column 2i+1 cosines.
    """
    position = torch.arange(length, dtype=torch.float32)[:, None]  # (length, 1)
    column = torch.arange(d_model)[None, :]  # (1, d_model)
    pair = column - column % 2  # (1, d_model)
    angle = position / longest ** (pair / d_model)  # (length, d_model)
    vectors = torch.where(column % 2 == 0, angle.sin(), angle.cos())  # (length, d_model)
    return vectors
