"""Many drafts checked in one pass: a tree with its mask and positions (Miao et al. 2024, 4.2).

>>> find_depths([-1, 0, 0, 2])
[0, 1, 1, 2]
>>> tree_mask(length=1, parents=[-1, -1]).int()
tensor([[1, 0, 0],
        [1, 1, 0],
        [1, 0, 1]], dtype=torch.int32)
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def find_depths(parents: Sequence[int]) -> list[int]:
    """How many drafts each draft follows; a parent is an earlier draft, or −1: the text itself."""
    depths: list[int] = []
    for parent in parents:
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
    return depths


def tree_mask(length: int, parents: Sequence[int]) -> Tensor:
    """A text of `length` tokens, then drafts: each sees the text, those it follows, and itself."""
    size = length + len(parents)
    mask = torch.ones(size, size, dtype=torch.bool).tril()  # (kv_len, kv_len)
    mask[length:, length:] = torch.eye(len(parents), dtype=torch.bool)
    for draft, parent in enumerate(parents):
        if parent >= 0:
            mask[length + draft] |= mask[length + parent]
    return mask


def tree_positions(length: int, parents: Sequence[int]) -> Tensor:
    """Where each token would be in its own text: drafts of one depth have the same position."""
    places = [*range(length), *(length + depth for depth in find_depths(parents))]
    positions = torch.tensor(places)  # (kv_len,)
    return positions


def find_right(parents: Sequence[int], drafts: Sequence[int], chosen: Sequence[int]) -> list[int]:
    """The drafts that the model would have written itself, one after the other.

    `chosen[0]` is its next token after the text, `chosen[1 + n]` the one after draft n.
    """
    right: list[int] = []
    for draft, parent in enumerate(parents):
        last = right[-1] if right else -1
        if parent == last and drafts[draft] == chosen[1 + last]:
            right.append(draft)
    return right
