"""A smaller cache: rows merged (DeepSeek-AI 2026, "DeepSeek-V4"), numbers in few bits (KIVI 2024).

Merged as in its equations 20 to 22; a step for each group of numbers by Liu et al., "KIVI".

>>> import torch
>>> waiting_rows(length=7, width=3)
1
>>> round_in_tokens(torch.tensor([[0.0, 0.4, 1.0, 3.0]]), bits=2, size=4)
tensor([[0., 0., 1., 3.]])
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


def round_in_groups(x: Tensor, bits: int, size: int) -> Tensor:
    """Round to one of 2 to the `bits` levels between the smallest and largest of each group.

    A group is `size` neighbours of the last axis (section 3.1). With x (..., length, head_dim)
    that is within a token; with x.mT, one column of `size` tokens: within a channel.
    """
    if x.shape[-1] % size:
        raise ValueError(f"{x.shape[-1]} numbers do not fill groups of {size}")
    groups = x.reshape(*x.shape[:-1], -1, size)  # (..., length, groups, size)
    lowest, highest = groups.aminmax(dim=-1, keepdim=True)
    step = ((highest - lowest) / (2**bits - 1)).clamp(min=1e-12)  # (..., length, groups, 1)
    levels = ((groups - lowest) / step).round()  # (..., length, groups, size)
    rounded = (levels * step + lowest).flatten(-2)  # (..., length, head_dim)
    return rounded


def round_in_tokens(x: Tensor, bits: int, size: int) -> Tensor:
    """Groups within a token: a few channels with large numbers make every step coarse."""
    return round_in_groups(x, bits, size)


def round_in_channels(x: Tensor, bits: int, size: int) -> Tensor:
    """Groups within a channel, over `size` tokens: a channel of large numbers is alone."""
    return round_in_groups(x.mT, bits, size).mT
