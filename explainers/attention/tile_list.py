"""Which tiles a mask reads: all, some or none of a tile's pairs allowed (Dong et al. 2024, 3.2).

>>> cut_into_tiles(torch.ones(2, 4).bool(), q_block=2, kv_block=2).shape
torch.Size([2, 2, 2])
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from explainers.attention.rules import Rule
from explainers.attention.tiled import positions

WHOLE, CUT, EMPTY = range(3)
"""A tile in which every pair is allowed, one in which some are, and one that nobody reads."""


class TileList(NamedTuple):
    """For each block of queries, the blocks of keys that it reads: the whole ones, then the cut.

    `keys` (..., q_tiles, kv_tiles) are numbers of blocks, of which `whole` and then `cut`
    (..., q_tiles) are read. The mask is kept of cut tiles only, `allowed` (cuts, q_block,
    kv_block): for each block of queries from number `first` (..., q_tiles) on.
    """

    keys: Tensor
    whole: Tensor
    cut: Tensor
    first: Tensor
    allowed: Tensor
    lengths: Tensor


def list_tiles(rule: Rule, q_len: int, kv_len: int, q_block: int, kv_block: int) -> TileList:
    """Ask a rule about one block of queries after the other; only cut tiles keep their pairs."""
    query_pos, key_pos = positions(q_len, kv_len, q_block, kv_block)
    kinds, masks = [], []
    for rows in torch.split(query_pos, q_block):
        tiles = cut_into_tiles(rule(rows, key_pos), q_block, kv_block)
        refuse_empty_row(tiles, int(rows[0, 0] - query_pos[0, 0]), q_len)
        found = find_kinds(tiles)
        kinds.append(found)
        masks.append(tiles[found == CUT])
    kind = torch.stack(kinds)  # (q_tiles, ..., kv_tiles)
    whole = (kind == WHOLE).sum(dim=-1)  # (q_tiles, ...)
    cut = (kind == CUT).sum(dim=-1)  # (q_tiles, ...)
    first = cut.flatten().cumsum(0).view(cut.shape) - cut  # (q_tiles, ...)
    keys = kind.argsort(dim=-1, stable=True)  # (q_tiles, ..., kv_tiles)
    of_keys, of_whole, of_cut, of_first = (
        part.movedim(0, whole.dim() - 1).int().contiguous() for part in (keys, whole, cut, first)
    )
    lengths = torch.tensor([q_len, kv_len], device="cpu")  # read there, without waiting for a GPU
    return TileList(of_keys, of_whole, of_cut, of_first, torch.cat(masks), lengths)


def cut_into_tiles(allowed: Tensor, q_block: int, kv_block: int) -> Tensor:
    """Some queries' mask as tiles; what is left of the last is filled with its last row and 0."""
    q_len, kv_len = allowed.shape[-2:]
    row = torch.arange(q_block).clamp(max=q_len - 1)  # (q_block,)
    filled = allowed[..., row, :]  # (..., q_block, kv_len)
    padded = F.pad(filled, (0, -kv_len % kv_block))  # (..., q_block, kv_tiles·kv_block)
    parts = torch.split(padded, kv_block, dim=-1)
    tiles = torch.stack(parts, dim=-3)  # (..., kv_tiles, q_block, kv_block)
    return tiles


def find_kinds(tiles: Tensor) -> Tensor:
    """Whether each tile is whole, cut or empty."""
    some = tiles.any(dim=-1).any(dim=-1)  # (..., kv_tiles)
    every = tiles.all(dim=-1).all(dim=-1)  # (..., kv_tiles)
    return EMPTY - some.int() - every.int()


def refuse_empty_row(tiles: Tensor, before: int, q_len: int) -> None:
    """As `masks.build` does."""
    empty = (~tiles.any(dim=-1).any(dim=-2)).nonzero()
    if len(empty):
        row = f"row {before + int(empty[0, -1])} (of {q_len} queries)"
        raise ValueError(f"the mask leaves {row} nothing to look at")
