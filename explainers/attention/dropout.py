"""Dropout on the weights, as training uses it (Srivastava et al. 2014, section 10).

>>> drop(torch.tensor([0.25, 0.75]), 0.0, torch.Generator())
tensor([0.2500, 0.7500])
"""

import torch
from torch import Tensor


def drop(weights: Tensor, probability: float, generator: torch.Generator) -> Tensor:
    """Set each weight to 0 with this probability, and divide those that stay by 1 − probability.

    A row no longer sums to 1, but over many draws it does on average: so a model that learned
    with dropout is used without it, and nothing needs to be rescaled.
    """
    if not 0 <= probability < 1:
        raise ValueError(f"a weight cannot be dropped with probability {probability} and rescaled")
    drawn = torch.rand(weights.shape, generator=generator)  # (..., q_len, kv_len)
    stays = (drawn >= probability).to(weights.device)  # (..., q_len, kv_len)
    dropped = weights * stays / (1 - probability)  # (..., q_len, kv_len)
    return dropped
