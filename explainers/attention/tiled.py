"""Attention in tiles, exact, without its n² matrices (Rabe & Staats 2021; Dao et al. 2022).

>>> from explainers.attention.masks import causal
>>> tile_cells(causal, 4, 4, q_block=2, kv_block=2)  # a tile that nobody reads has none
tensor([[3, 0],
        [4, 3]])
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from explainers.attention.online_softmax import Running, begin, read_block
from explainers.attention.rules import Rule


def positions(q_len: int, kv_len: int, q_block: int, kv_block: int) -> tuple[Tensor, Tensor]:
    """Where queries and keys stand; as in `masks.build`, queries are the last positions."""
    if not 1 <= q_len <= kv_len:
        raise ValueError(f"{q_len} queries cannot be the last of {kv_len} positions")
    if min(q_block, kv_block) < 1:
        raise ValueError(f"a tile of {q_block} × {kv_block} scores is empty")
    key_pos = torch.arange(kv_len)[None, :]  # (1, kv_len)
    query_pos = torch.arange(kv_len - q_len, kv_len)[:, None]  # (q_len, 1)
    return query_pos, key_pos


def tiled_attention(
    query: Tensor, key: Tensor, value: Tensor, rule: Rule, q_block: int, kv_block: int
) -> Tensor:
    """The output of `attention()` under a rule; of scores and mask only one tile exists at a time.

    The rule is asked about each tile, so the mask is never built either.
    """
    places = positions(query.shape[-2], key.shape[-2], q_block, kv_block)
    query_pos, key_pos = (place.to(query.device) for place in places)
    rows = zip(torch.split(query, q_block, -2), torch.split(query_pos, q_block), strict=True)
    sides = (key, -2), (value, -2), (key_pos, -1)
    columns = list(zip(*(torch.split(side, kv_block, axis) for side, axis in sides), strict=True))
    outputs = [read_keys(queries, queries_pos, columns, rule) for queries, queries_pos in rows]
    return torch.cat(outputs, dim=-2)


def read_keys(
    query: Tensor, query_pos: Tensor, blocks: Sequence[tuple[Tensor, ...]], rule: Rule
) -> Tensor:
    """Some queries read all keys, block by block; a block is its keys, values and positions."""
    running = begin(query, blocks[0][1])
    for key, value, key_pos in blocks:
        running = read_tile(running, query, key, value, rule(query_pos, key_pos))
    if not running.total.all():
        raise ValueError("the mask leaves a query nothing to look at")
    return running.output


def read_tile(running: Running, query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Running:
    """Some queries read some keys; a tile in which nobody may look at anybody is skipped."""
    if not mask.any():
        return running
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])  # (..., q_block, kv_block)
    masked = scores.masked_fill(~mask, -torch.inf)  # (..., q_block, kv_block)
    return read_block(running, masked, value)


def tile_cells(rule: Rule, q_len: int, kv_len: int, q_block: int, kv_block: int) -> Tensor:
    """How many cells of each tile the rule allows; one with 0 is never computed."""
    query_pos, key_pos = positions(q_len, kv_len, q_block, kv_block)
    rows, columns = torch.split(query_pos, q_block), torch.split(key_pos, kv_block, -1)
    return torch.tensor([[rule(some, keys).sum() for keys in columns] for some in rows])
