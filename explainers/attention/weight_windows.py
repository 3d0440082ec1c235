"""Any part of a long text's weights, exactly, from Q, K and one total a row (Rabe & Staats 2021).

A weight is e^score ÷ the total of its row, so it is e^(score − logarithm of the total). With these
logarithms any cell can be computed again without its row. Queries are the last positions.
"""

import math
from collections.abc import Iterator

import torch
from torch import Tensor


def cut(length: int, block: int) -> list[slice]:
    """Slices of at most `block` positions: the last one may be shorter."""
    if block < 1:
        raise ValueError(f"blocks of {block} positions are empty")
    return [slice(start, min(start + block, length)) for start in range(0, length, block)]


def tile_of_scores(
    query: Tensor, key: Tensor, rows: slice, columns: slice, is_causal: bool
) -> Tensor:
    """Scores of some queries and keys, −∞ where forbidden; most tiles need no mask at all."""
    scaled = query[..., rows, :] / math.sqrt(query.shape[-1])  # (..., q_block, head_dim)
    scores = scaled @ key[..., columns, :].transpose(-2, -1)  # (..., q_block, kv_block)
    first = rows.start + key.shape[-2] - query.shape[-2]
    if is_causal and columns.stop - 1 > first:
        query_pos = torch.arange(first, first + scores.shape[-2])[:, None]
        later = torch.arange(columns.start, columns.stop) > query_pos
        scores.masked_fill_(later.to(scores.device), -torch.inf)
    return scores


def read_tiles(
    query: Tensor, key: Tensor, rows: slice, block: int, is_causal: bool
) -> Iterator[Tensor]:
    """The tiles of some queries, from left to right; those of later keys only are skipped."""
    last = rows.stop + key.shape[-2] - query.shape[-2]
    for columns in cut(last if is_causal else key.shape[-2], block):
        yield tile_of_scores(query, key, rows, columns, is_causal)


def add_up_rows(query: Tensor, key: Tensor, rows: slice, block: int, is_causal: bool) -> Tensor:
    """The logarithm of the total of each of some rows, ln Σ e^score, in tiles."""
    total = torch.full_like(query[..., rows, :1], -torch.inf)  # (..., q_block, 1)
    for scores in read_tiles(query, key, rows, block, is_causal):
        total = torch.logaddexp(total, scores.logsumexp(dim=-1, keepdim=True))  # (..., q_block, 1)
    return total


def row_totals(query: Tensor, key: Tensor, block: int, is_causal: bool) -> Tensor:
    """The same of all rows; beside Q and K nothing else has to be kept."""
    if query.shape[-2] > key.shape[-2]:
        raise ValueError(f"{query.shape[-2]} queries cannot be the last of {key.shape[-2]} keys")
    strips = cut(query.shape[-2], block)
    parts = [add_up_rows(query, key, rows, block, is_causal) for rows in strips]
    totals = torch.cat(parts, dim=-2)  # (..., q_len, 1)
    return totals


def window(
    query: Tensor, key: Tensor, totals: Tensor, rows: slice, columns: slice, is_causal: bool
) -> Tensor:
    """The weights of some queries on some keys, as softmax over whole rows would have them."""
    scores = tile_of_scores(query, key, rows, columns, is_causal)  # (..., q_block, kv_block)
    weights = scores.sub_(totals[..., rows, :]).exp_()  # (..., q_block, kv_block)
    return weights


def largest_in_strip(
    query: Tensor, key: Tensor, totals: Tensor, rows: slice, block: int, is_causal: bool
) -> Tensor:
    """The largest weight of some queries on each block of keys: one number of each tile is kept."""
    count = len(cut(key.shape[-2], block))
    largest = torch.full_like(query[..., :1, :1], -torch.inf).repeat_interleave(count, dim=-1)
    for number, scores in enumerate(read_tiles(query, key, rows, block, is_causal)):
        largest[..., 0, number] = scores.sub_(totals[..., rows, :]).amax(dim=(-2, -1))
    weights = largest.exp()  # (..., 1, blocks)
    return weights


def overview(query: Tensor, key: Tensor, totals: Tensor, block: int, is_causal: bool) -> Tensor:
    """A map of all n² weights: the largest one in each block of queries × keys."""
    strips = cut(query.shape[-2], block)
    found = [largest_in_strip(query, key, totals, rows, block, is_causal) for rows in strips]
    weights = torch.cat(found, dim=-2)  # (..., strips, blocks)
    return weights
