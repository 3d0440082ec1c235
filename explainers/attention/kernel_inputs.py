"""What the tiled kernel takes, and how it is laid out in a GPU's memory."""

import os

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from explainers.attention.tile_list import TileList

TYPES = (torch.float16, torch.bfloat16, torch.float32)
NARROWEST, WIDEST = 16, 128
"""Numbers of a row: fewer cannot be multiplied by a GPU's matrix units, more do not fit beside a
tile into the fast memory."""


def choose_sides(query: Tensor) -> tuple[int, int]:
    """Queries and keys of a tile that an H100 holds in its registers and 107 KiB of fast memory."""
    return (32, 32) if query.dtype == torch.float32 else (128, 64)


def refuse_inputs(query: Tensor, key: Tensor, value: Tensor, tiles: TileList) -> None:
    """Say what is wrong before a GPU reads memory that is not there."""
    refuse_sizes(query, key, value, tiles)
    refuse_kinds(query, key, value)
    sides = tiles.allowed.shape[-2:]
    if any(side < NARROWEST or side & (side - 1) for side in sides):
        tile = " × ".join(map(str, sides))
        raise ValueError(f"a tile of {tile} scores: both sides must be powers of 2 from 16 on")


def refuse_sizes(query: Tensor, key: Tensor, value: Tensor, tiles: TileList) -> None:
    """Lengths and widths that do not belong together."""
    (q_len, head_dim), (kv_len, key_dim) = query.shape[-2:], key.shape[-2:]
    if head_dim != key_dim:
        raise ValueError(f"queries of {head_dim} numbers cannot be compared with keys of {key_dim}")
    if kv_len != value.shape[-2]:
        raise ValueError(f"{kv_len} keys cannot share {value.shape[-2]} values")
    listed_q, listed_kv = tiles.lengths.tolist()
    if (q_len, kv_len) != (listed_q, listed_kv):
        listed, given = f"{listed_q} × {listed_kv}", f"{q_len} queries and {kv_len} keys"
        raise ValueError(f"these tiles are of {listed} scores, but there are {given}")
    for name, width in (("head_dim", head_dim), ("value_dim", value.shape[-1])):
        if not 1 <= width <= WIDEST:
            raise ValueError(f"{name} {width}: the kernel takes 1 to 128, tiled_attention() any")


def refuse_kinds(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Types of numbers and devices that the kernel cannot compute with."""
    parts = query, key, value
    types = [f"{part.dtype}".removeprefix("torch.") for part in parts]
    if query.dtype not in TYPES or len(set(types)) > 1:
        given = ", ".join(types)
        raise TypeError(
            f"query, key, value are {given}: all must be one of float16, bfloat16, float32"
        )
    devices = {part.device.type for part in parts}
    if devices != {"cuda"} and os.environ.get("TRITON_INTERPRET") != "1":
        raise ValueError(
            f"the kernel needs a CUDA device, but its inputs are on {', '.join(sorted(devices))}: "
            "use tiled_attention(), or set TRITON_INTERPRET=1 before Triton is imported"
        )
    if torch.is_grad_enabled() and any(part.requires_grad for part in parts):
        raise ValueError("the kernel computes no gradients: call it under torch.no_grad()")


def lay_out(part: Tensor, leading: torch.Size) -> Tensor:
    """One head behind the other, each row as wide as a power of 2; zeros add nothing to a sum."""
    length, width = part.shape[-2:]
    padded = max(NARROWEST, 1 << (width - 1).bit_length())
    # Nothing is copied where nothing is added.
    filled = F.pad(part, (0, padded - width)) if padded > width else part  # (..., length, padded)
    heads = filled.expand(*leading, length, padded).reshape(-1, length, padded)
    return heads.contiguous()


def number_masks(tiles: TileList, leading: torch.Size) -> Tensor:
    """Which mask each head follows, as its number; heads of one text may share one."""
    of_tiles = tiles.whole.shape[:-1]
    numbers = torch.arange(of_tiles.numel()).view(of_tiles)
    spread = numbers.expand(leading)  # (...)
    return spread.flatten().int()
