"""Several rows of a cache become one (DeepSeek-AI 2026, "DeepSeek-V4", equations 20 to 22).

>>> waiting_rows(length=7, width=3)
1
"""

from torch import Tensor


def merge_rows(rows: Tensor, gate: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """Merge each `width` rows by weights of their own in every column; the last ones may wait.

    rows and gate (..., length, head_dim), bias (width, head_dim); returns the weights, which add up
    to 1 over the rows that are merged, and the merged rows.
    """
    width = bias.shape[0]
    whole = rows.shape[-2] // width * width
    shape = *rows.shape[:-2], -1, *bias.shape
    gates = gate[..., :whole, :].reshape(shape)  # (..., merged, width, head_dim)
    weights = (gates + bias).softmax(dim=-2)  # (..., merged, width, head_dim)
    parts = rows[..., :whole, :].reshape(shape)  # (..., merged, width, head_dim)
    merged = (weights * parts).sum(dim=-2)  # (..., merged, head_dim)
    return weights, merged


def waiting_rows(length: int, width: int) -> int:
    """How many of the last rows wait until there are enough of them."""
    return length % width
