"""Prompts that begin alike share rows of K and V (Kwon et al. 2023, 4.4; Zheng et al. 2024, 3).

>>> count_shared(torch.tensor([1, 2, 3]), torch.tensor([1, 2, 4]))
2
"""

import torch
from torch import Tensor


def count_shared(one: Tensor, two: Tensor) -> int:
    """How many tokens two prompts, ids (length,) each, have in common before they first differ."""
    both = min(len(one), len(two))
    same = one[:both] == two[:both]  # (length,)
    return int(same.cumprod(dim=0).sum())


def name_blocks(ids: Tensor, size: int) -> list[int]:
    """A name for each whole block of `size` tokens of a prompt: made of it and all before it.

    Blocks of the same tokens have other names behind another beginning: their rows differ too.
    """
    names: list[int] = []
    for block in torch.split(ids, size)[: len(ids) // size]:
        before = names[-1] if names else 0
        names.append(hash((before, *block.tolist())))
    return names


def count_shared_blocks(one: Tensor, two: Tensor, size: int) -> int:
    """How many blocks of the first prompt the second one can point at, ids (length,) each."""
    pairs = zip(name_blocks(one, size), name_blocks(two, size), strict=False)
    return sum(first == second for first, second in pairs)


def changed_rows(before: Tensor, after: Tensor, tolerance: float) -> Tensor:
    """Which tokens' rows differ by more than `tolerance` in any head, True = must be computed."""
    gap = (after - before).abs().amax(dim=-1)  # (..., kv_heads, kv_len)
    changed = (gap > tolerance).any(dim=-2)  # (..., kv_len)
    return changed
