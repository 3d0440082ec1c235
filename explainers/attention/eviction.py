"""A cache that throws rows away: H2O (Zhang et al. 2023), SnapKV (Li et al. 2024, listing 1)."""

import torch
from torch import Tensor
from torch.nn.functional import pad


def evict_least_read(scores: Tensor, kept: int, newest: int) -> Tensor:
    """A mask: which keys are still in a cache of `kept` rows when each query reads it.

    Token by token, scores (..., length, length): if the cache is full, the row goes that received
    the least weight so far. The `newest` rows are safe. A row that has gone never comes back
    (H2O, algorithm 1).
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


def keep_observed(weights: Tensor, kept: int, newest: int, beside: int) -> Tensor:
    """Which rows of a prompt stay, chosen once at its end: those that its last queries read most.

    The `newest` rows stay, and the weights of their queries are votes for the others. A row's votes
    are averaged with those of `beside` neighbours on each side, so that a row keeps its context.
    """
    length = weights.shape[-1]
    if not newest < kept <= length:
        raise ValueError(f"{kept} rows of {length} cannot hold the {newest} newest and others")
    is_newest = torch.arange(length) >= length - newest  # (length,)
    votes = weights[..., -newest:, :].sum(dim=-2) * ~is_newest  # (..., length)
    near = pad(votes, (beside, beside)).unfold(-1, 2 * beside + 1, 1)
    shared = near.mean(dim=-1).masked_fill(is_newest, -torch.inf)  # (..., length)
    best = shared.topk(kept - newest, dim=-1).indices
    held = is_newest.expand_as(votes).scatter(-1, best, True)  # (..., length)
    return held
