"""How far a mask lets information travel through layers (Jiang et al. 2023, section 2).

>>> window_reach(width=4, layers=3)
10
>>> cells(torch.ones(3, 3).tril())
6
"""

import torch
from torch import Tensor


def reach(mask: Tensor, layers: int) -> Tensor:
    """After each layer, True where the row's output can hold something of the column's token.

    A row sees what the rows that it may look at have collected one layer below: multiplying by
    the mask once more. Only attention is counted, not the token that a residual connection keeps.
    """
    if layers < 1 or mask.shape[-2] != mask.shape[-1]:
        raise ValueError(f"{layers} layers of a mask {tuple(mask.shape)} cannot be stacked")
    steps = mask.float()  # (..., q_len, kv_len)
    reached = [mask]
    while len(reached) < layers:
        paths = steps @ reached[-1].float()  # (..., q_len, kv_len)
        reached.append(paths > 0)
    by_layer = torch.stack(reached, dim=-3)  # (..., layers, q_len, kv_len)
    return by_layer


def window_reach(width: int, layers: int) -> int:
    """How many positions, its own counted, `layers` windows reach if there is so much text."""
    return layers * (width - 1) + 1


def cells(mask: Tensor) -> int:
    """How many scores the mask lets count: the work that a kernel which skips the rest does."""
    return int(mask.sum())
