"""A cache of fixed size that throws rows away: H2O (Zhang et al. 2023, algorithm 1).

>>> scores = torch.tensor([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
>>> evict_least_read(scores, kept=2, newest=0)[-1]  # nobody read the second token
tensor([ True, False,  True])
"""

import torch
from torch import Tensor


def evict_least_read(scores: Tensor, kept: int, newest: int) -> Tensor:
    """A mask: which keys are still in a cache of `kept` rows when each query reads it.

    Token by token, scores (..., length, length): if the cache is full, the row goes that received
    the least weight so far. The `newest` rows are safe. A row that has gone never comes back.
    """
    length = scores.shape[-1]
    held = torch.zeros_like(scores[..., 0, :], dtype=torch.bool)  # (..., length)
    received = torch.zeros_like(scores[..., 0, :])  # (..., length)
    rows = []
    for now in range(length):
        held = held | (torch.arange(length) == now)  # (..., length)
        rows.append(held)
        received = received + scores[..., now, :].masked_fill(~held, -torch.inf).softmax(dim=-1)
        if now + 1 >= kept:
            is_safe = ~held | (torch.arange(length) > now - newest)  # (..., length)
            least = received.masked_fill(is_safe, torch.inf).argmin(dim=-1, keepdim=True)
            held = held.scatter(-1, least, False)  # (..., length)
    return torch.stack(rows, dim=-2)
