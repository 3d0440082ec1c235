"""Why −∞ before the softmax and not 0 after it (Vaswani et al. 2017, section 3.2.3)."""

import torch
from torch import Tensor


def masked_before(scores: Tensor, mask: Tensor) -> Tensor:
    """Hide first, then share out: what may not be seen has no part in any weight."""
    allowed = scores.masked_fill(~mask, -torch.inf)  # (..., q_len, kv_len)
    weights = allowed.softmax(dim=-1)  # (..., q_len, kv_len)
    return weights


def masked_after(scores: Tensor, mask: Tensor) -> Tensor:
    """The wrong order: share out among all, then put 0 where nothing may be seen.

    The softmax's denominator has already counted the hidden keys. So a row sums to less than 1,
    and the weights that are left still depend on hidden, later tokens: a model could read from
    them what it must predict. Dividing each row by its sum again would be `masked_before`, in
    more steps, and 0/0 where a hidden score was much the largest.
    """
    weights = scores.softmax(dim=-1)  # (..., q_len, kv_len)
    shown = weights.masked_fill(~mask, 0.0)  # (..., q_len, kv_len)
    return shown
