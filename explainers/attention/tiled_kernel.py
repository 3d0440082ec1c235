"""Tiled attention as one kernel of a GPU: FlashAttention-2 (Dao 2023, algorithm 1)."""

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

from explainers.attention.kernel_inputs import lay_out, number_masks, refuse_inputs
from explainers.attention.tile_list import TileList

LOWEST = tl.constexpr(torch.finfo(torch.float32).min)
"""The largest score of a row that has read nothing; not −∞: −∞ − (−∞) is not a number."""


@triton.jit
def read_tiles(
    query_at, key_at, value_at, output_at, tiles_at, whole_at, cut_at, first_at, allowed_at,
    texts_at, q_len, kv_len, kv_tiles, scale,
    q_block: tl.constexpr, kv_block: tl.constexpr,
    head_dim: tl.constexpr, value_dim: tl.constexpr,
):  # fmt: skip
    """A block of queries of one head reads its tiles; each `_at` is where a tensor begins.

    The scores of one tile exist at a time, in the registers of the GPU. They are in powers of 2,
    which a GPU computes faster than those of e: `scale` is log₂ e ÷ √head_dim.
    """
    block = tl.num_programs(0) - 1 - tl.program_id(0)  # under a causal mask the last read most
    head = tl.program_id(1).to(tl.int64)  # more than 2³¹ numbers may stand before a head
    line = tl.load(texts_at + head) * tl.num_programs(0) + block
    rows = block * q_block + tl.arange(0, q_block)  # (q_block,)
    features, value_features = tl.arange(0, head_dim), tl.arange(0, value_dim)
    query_cells = head * q_len * head_dim + rows[:, None] * head_dim + features[None, :]
    is_query = rows[:, None] < q_len  # (q_block, 1)
    queries = tl.load(query_at + query_cells, is_query, 0.0)  # (q_block, head_dim)
    largest = tl.full([q_block], LOWEST, tl.float32)  # (q_block,)
    total = tl.zeros([q_block], tl.float32)  # (q_block,)
    mixed = tl.zeros([q_block, value_dim], tl.float32)  # (q_block, value_dim)
    whole, cut, first = tl.load(whole_at + line), tl.load(cut_at + line), tl.load(first_at + line)
    for is_cut in tl.static_range(2):  # first the whole tiles, in a loop that asks no mask
        for number in range(whole * is_cut, whole + cut * is_cut):
            tile = tl.load(tiles_at + line * kv_tiles + number)
            columns = tile * kv_block + tl.arange(0, kv_block)  # (kv_block,)
            is_key = columns[:, None] < kv_len  # (kv_block, 1)
            key_cells = columns[:, None] * head_dim + features[None, :]  # (kv_block, head_dim)
            value_cells = columns[:, None] * value_dim + value_features[None, :]
            keys = tl.load(key_at + head * kv_len * head_dim + key_cells, is_key, 0.0)
            values = tl.load(value_at + head * kv_len * value_dim + value_cells, is_key, 0.0)
            scores = tl.dot(queries, keys.T, input_precision="ieee") * scale  # (q_block, kv_block)
            if is_cut:
                cells = rows[:, None] % q_block * kv_block + columns[None, :] % kv_block
                kept = (first + number - whole).to(tl.int64) * q_block * kv_block
                allowed = tl.load(allowed_at + kept + cells)  # (q_block, kv_block)
                scores = tl.where(allowed, scores, float("-inf"))  # (q_block, kv_block)
            larger = tl.maximum(largest, tl.max(scores, 1))  # (q_block,)
            correction = tl.exp2(largest - larger)  # (q_block,)
            powers = tl.exp2(scores - larger[:, None])  # (q_block, kv_block)
            total = total * correction + tl.sum(powers, 1)  # (q_block,)
            mixed = mixed * correction[:, None]  # (q_block, value_dim)
            mixed = tl.dot(powers.to(values.dtype), values, mixed, input_precision="ieee")
            largest = larger
    output_cells = head * q_len * value_dim + rows[:, None] * value_dim + value_features[None, :]
    output = mixed / total[:, None]  # (q_block, value_dim)
    tl.store(output_at + output_cells, output.to(output_at.dtype.element_ty), is_query)


def kernel_attention(query: Tensor, key: Tensor, value: Tensor, tiles: TileList) -> Tensor:
    """The output of `attention()` under the mask of `tiles`, without gradients.

    query (..., q_len, head_dim), key (..., kv_len, head_dim), value (..., kv_len, value_dim): rows
    of up to 128 numbers, float16, bfloat16 or float32. Sums are float32.
    """
    refuse_inputs(query, key, value, tiles)
    (q_len, head_dim), (kv_len, value_dim) = query.shape[-2:], value.shape[-2:]
    leading, scale = query.shape[:-2], math.log2(math.e) / math.sqrt(head_dim)
    parts = [lay_out(part, leading) for part in (query, key, value)]
    sides, widths = tiles.allowed.shape[-2:], (parts[0].shape[-1], parts[2].shape[-1])
    output = query.new_empty(*parts[0].shape[:2], widths[1])
    lists = [part.to(query.device) for part in (*tiles[:5], number_masks(tiles, leading))]
    read_tiles[tiles.keys.shape[-2], len(output)](
        *(*parts, output, *lists, q_len, kv_len, tiles.keys.shape[-1], scale, *sides, *widths),
        num_warps=8 if sides[0] * max(widths) > 8_192 else 4,  # fewer have too few registers
        num_stages=3,  # while one tile is computed, the next are fetched
    )
    mixed = output[..., :value_dim].reshape(*leading, q_len, value_dim)  # (..., q_len, value_dim)
    return mixed
