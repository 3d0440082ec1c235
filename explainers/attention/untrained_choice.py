"""Keys chosen without training: H2O (Zhang et al. 2023), MoBA (Lu et al. 2025, equations 5 to 7).

H2O is its algorithm 1; blocks are read in the same way in NSA (Yuan et al. 2025).

>>> scores = torch.tensor([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
>>> evict_least_read(scores, kept=2, newest=0)[-1]  # nobody read the second token
tensor([ True, False,  True])
>>> score_blocks(torch.tensor([[1.0]]), torch.tensor([[1.0], [3.0], [5.0], [7.0]]), size=2)
tensor([[2., 6.]])
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


def score_blocks(query: Tensor, key: Tensor, size: int) -> Tensor:
    """How well each query matches the mean key of each block of `size` neighbours."""
    if key.shape[-2] % size:
        raise ValueError(f"{key.shape[-2]} keys do not fill blocks of {size}")
    blocks = key.reshape(*key.shape[:-2], -1, size, key.shape[-1])
    mean_key = blocks.mean(dim=-2)  # (..., blocks, head_dim)
    scores = query @ mean_key.mT  # (..., q_len, blocks)
    return scores


def choose_blocks(scores: Tensor, size: int, count: int, keeps_first: bool) -> Tensor:
    """A mask: each query reads its own block, perhaps the first one, and the best of the others.

    scores (..., length, blocks) of as many queries as keys; `count` blocks in all. Nothing needs
    to be trained: a block is as good as the mean of its keys.
    """
    length, blocks = scores.shape[-2:]
    block, own = torch.arange(blocks), torch.arange(length)[:, None] // size
    always = (block == own) | (keeps_first & (block == 0))  # (length, blocks)
    visible = scores.masked_fill(always, torch.inf).masked_fill(block > own, -torch.inf)
    best = visible.topk(min(count, blocks), dim=-1).indices
    nothing = torch.zeros_like(scores, dtype=torch.bool)  # (..., length, blocks)
    blockwise = nothing.scatter(-1, best, True)  # (..., length, blocks)
    chosen = blockwise.repeat_interleave(size, dim=-1)  # (..., length, length)
    return chosen.tril()
