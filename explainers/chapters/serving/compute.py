"""Shared blocks, a tree of drafts, and drafts that are kept or drawn again."""

from typing import Any

import torch

from explainers.attention.serving.accept_drafts import (
    keep_probability,
    left_over,
    written_distribution,
)
from explainers.attention.serving.draft_tree import find_depths, tree_mask
from explainers.attention.serving.shared_prefix import count_shared, count_shared_blocks


def share_prompts(one: list[int], two: list[int], block: int) -> dict[str, int]:
    """Tokens and whole blocks that two prompts, as ids, have in common."""
    both = torch.tensor(one), torch.tensor(two)
    return {"shared": count_shared(*both), "blocks": count_shared_blocks(*both, block)}


def check_tree(length: int, parents: list[int]) -> dict[str, Any]:
    """The mask of a text and its drafts, and how far each draft is from the text."""
    return {"mask": tree_mask(length, parents), "depths": find_depths(parents)}


def exchange_drafts(draft: list[float], target: list[float]) -> dict[str, Any]:
    """How often each drafted word is kept, what is drawn instead, and what is written then."""
    q, p = torch.tensor(draft), torch.tensor(target)
    rest = left_over(q, p)
    written = written_distribution(q, p, rest)
    return {"kept": keep_probability(q, p), "drawn instead": rest, "written": written}
