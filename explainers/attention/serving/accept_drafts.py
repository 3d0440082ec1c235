"""Keep a draft or draw again: nothing changes (Leviathan et al. 2023, 2.3; Chen et al. 2023, 2).

>>> import torch
>>> draft, target = torch.tensor([0.5, 0.5]), torch.tensor([0.8, 0.2])
>>> keep_probability(draft, target)
tensor([1.0000, 0.4000])
>>> left_over(draft, target)
tensor([1., 0.])
"""

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
