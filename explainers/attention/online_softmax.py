"""Softmax over a row that is read in blocks (Milakov & Gimelshein 2018, algorithm 3).

>>> row, value = torch.tensor([[0.0, 1.0, 2.0]]), torch.tensor([[1.0], [2.0], [3.0]])
>>> [step.largest.item() for step in read_row(row, value, kv_block=2)]
[1.0, 2.0]
"""

from typing import NamedTuple

import torch
from torch import Tensor


class Running(NamedTuple):
    """What is known of each row when some of its keys have been read, and what a block changed."""

    largest: Tensor
    correction: Tensor
    total: Tensor
    mixed: Tensor

    @property
    def output(self) -> Tensor:
        """Attention over the keys that have been read, exactly."""
        return self.mixed / self.total


def begin(query: Tensor, value: Tensor) -> Running:
    """Nothing has been read: a row of totals for each row of `query`.

    The largest score so far is the smallest number there is, not −∞: −∞ − (−∞) is not a number.
    """
    total = query.new_zeros(*query.shape[:-1], 1)  # (..., q_len, 1)
    mixed = query.new_zeros(*query.shape[:-1], value.shape[-1])  # (..., q_len, value_dim)
    return Running(total + torch.finfo(query.dtype).min, total, total, mixed)


def read_block(before: Running, scores: Tensor, value: Tensor) -> Running:
    """Read one more block of keys: its scores (−∞ where forbidden) and its values.

    All powers of e are relative to the largest score so far. Where a block brings a larger one,
    a single factor corrects all that was added up before.
    """
    largest = torch.maximum(before.largest, scores.amax(dim=-1, keepdim=True))  # (..., q_len, 1)
    correction = torch.exp(before.largest - largest)  # (..., q_len, 1)
    powers = torch.exp(scores - largest)  # (..., q_len, kv_len)
    total = before.total * correction + powers.sum(dim=-1, keepdim=True)  # (..., q_len, 1)
    mixed = before.mixed * correction + powers @ value  # (..., q_len, value_dim)
    return Running(largest, correction, total, mixed)


def read_row(scores: Tensor, value: Tensor, kv_block: int) -> list[Running]:
    """What is known after each block, if rows of scores are read `kv_block` keys at a time."""
    steps = [begin(scores, value)]
    blocks = torch.split(scores, kv_block, dim=-1), torch.split(value, kv_block, dim=-2)
    for some, values in zip(*blocks, strict=True):
        steps.append(read_block(steps[-1], some, values))
    return steps[1:]
