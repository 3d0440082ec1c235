"""Which rows of a matrix are other numbers now, and which differ by rounding only."""

from torch import Tensor

ROUNDING = 1e-5
"""Sums of float32 in another order differ by about 1e-7."""


def rows_moved(change: Tensor, rounding: float = ROUNDING) -> int:
    """How many rows have a number that changed by more than rounding."""
    return int((change.abs() > rounding).any(dim=-1).sum())
