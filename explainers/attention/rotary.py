"""Rotary positions, RoPE (Su et al. 2021, section 3.2): turn queries and keys by their place.

>>> angle = angles(torch.tensor([1]), head_dim=2, longest=10_000.0)
>>> rotate(torch.tensor([[1.0, 0.0]]), angle)  # turned by one radian
tensor([[0.5403, 0.8415]])
"""

import torch
from torch import Tensor

from explainers.attention.scaled_dot_product import Attention, attention


def angles(position: Tensor, head_dim: int, longest: float) -> Tensor:
    """How far each pair of numbers is turned at each `position` (length,).

    The first pair turns by 1 radian per position, pair i is `longest` to the (2i / head_dim)
    times slower; the paper takes 10,000.
    """
    if head_dim < 2 or head_dim % 2:
        raise ValueError(f"RoPE turns pairs of numbers, and {head_dim} numbers are not pairs")
    column = torch.arange(0, head_dim, 2, device=position.device)  # (pairs,)
    angle = position[:, None] / longest ** (column / head_dim)  # (length, pairs)
    return angle


def rotate(x: Tensor, angle: Tensor) -> Tensor:
    """Turn each pair of neighbours (0, 1), (2, 3), … like an arrow in a plane, as in the paper.

    x (..., length, head_dim), angle (length, pairs). Lengths stay, only directions change.
    """
    across, up = x[..., 0::2], x[..., 1::2]  # (..., length, pairs), (..., length, pairs)
    new_across = across * angle.cos() - up * angle.sin()  # (..., length, pairs)
    new_up = across * angle.sin() + up * angle.cos()  # (..., length, pairs)
    turned = torch.stack([new_across, new_up], dim=-1)  # (..., length, pairs, 2)
    rotated = turned.flatten(-2)  # (..., length, head_dim)
    return rotated


def rotate_halves(x: Tensor, angle: Tensor) -> Tensor:
    """The same with other pairs, 0 with head_dim / 2 and so on, as Llama's code has them.

    Scores are the same if the columns of W_Q and W_K are reordered alike.
    """
    across, up = x.chunk(2, dim=-1)  # (..., length, pairs), (..., length, pairs)
    new_across = across * angle.cos() - up * angle.sin()  # (..., length, pairs)
    new_up = across * angle.sin() + up * angle.cos()  # (..., length, pairs)
    rotated = torch.cat([new_across, new_up], dim=-1)  # (..., length, head_dim)
    return rotated


def rotary_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, angle: Tensor
) -> Attention:
    """Attention that knows places: a score depends on how far apart two tokens stand.

    `angle` (kv_len, pairs) belongs to the keys; the queries are the last of these positions.
    Values are not turned: what is handed over does not depend on where it stood.
    """
    turned_query = rotate(query, angle[-query.shape[-2] :])  # (..., q_len, head_dim)
    turned_key = rotate(key, angle)  # (..., kv_len, head_dim)
    return attention(turned_query, turned_key, value, mask)
