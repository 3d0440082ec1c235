"""Which drafts are kept: drawn ones (Leviathan et al. 2023, 2.3), a tree (Miao et al. 2024, 4.2).

How draws are kept was found twice at the same time (Chen et al. 2023, section 2).

>>> draft, target = torch.tensor([0.5, 0.5]), torch.tensor([0.8, 0.2])
>>> keep_probability(draft, target)
tensor([1.0000, 0.4000])
>>> left_over(draft, target)
tensor([1., 0.])
>>> tree_mask(length=1, parents=[-1, -1]).int()
tensor([[1, 0, 0],
        [1, 1, 0],
        [1, 0, 1]], dtype=torch.int32)
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def keep_probability(draft: Tensor, target: Tensor) -> Tensor:
    """How often each drafted word is kept, min(1, p ÷ q); q `draft`, p `target` (vocabulary,)."""
    ratio = target / draft.clamp(min=1e-30)  # (vocabulary,)
    return ratio.clamp(max=1.0)


def left_over(draft: Tensor, target: Tensor) -> Tensor:
    """What is drawn from instead of a rejected draft: max(0, p − q), made to sum to 1."""
    missing = (target - draft).clamp(min=0)  # (vocabulary,)
    return missing / missing.sum().clamp(min=1e-30)


def written_distribution(draft: Tensor, target: Tensor, again: Tensor) -> Tensor:
    """How often each word is written, all ways counted; `again` is drawn from when rejecting."""
    kept = draft * keep_probability(draft, target)  # (vocabulary,)
    written = kept + (1 - kept.sum()) * again  # (vocabulary,)
    return written


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
