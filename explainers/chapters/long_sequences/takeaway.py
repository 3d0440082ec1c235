"""To take away from page 10: n² counted, a row in blocks, attention in tiles, what masks spare."""

from typing import Any

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.online_softmax import begin, read_row
from explainers.attention.scaled_dot_product import attention
from explainers.attention.single_head import project
from explainers.attention.steps import dot_products, scale
from explainers.attention.tiled import positions, read_tile, tile_cells, tiled_attention
from explainers.chapters.common.score_matrix import Lab
from explainers.chapters.long_sequences.matrix_sizes import per_tokens
from explainers.chapters.long_sequences.sparse_masks import SIDE, by_way, spared, sparse_rules
from explainers.takeaway.recipe import Recipe
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.takeaway_files import take

Computed = dict[str, Tensor]


def squares(tokens: list[int]) -> dict[str, list[int]]:
    """Cells of the weight matrix, and their bytes."""
    _unused, cells, held = zip(*per_tokens(tuple(tokens)), strict=True)
    return {"cells": [*cells], "bytes": [*held]}


def in_blocks(layer: Layer, word: int, block: int, blocks: int) -> Computed:
    """One word's row of scores after some blocks: what is kept, and what it gives after each."""
    query, key, value = project(layer.x, layer.head())
    row = scale(dot_products(query, key), head_dim=query.shape[-1])[word : word + 1]
    steps = read_row(row, value, block)[:blocks]
    place = torch.arange(len(row[0]), device=row.device)
    seen = [(place < (n + 1) * block) for n in range(len(steps))]
    read = zip(seen, steps, strict=True)
    powers = torch.stack([torch.exp(row[0] - one.largest[0]) * some for some, one in read])
    kept = [torch.cat([one.largest, one.correction, one.total], dim=-1) for one in steps]
    return {
        "scores": row[:, seen[-1]],
        "running": torch.cat(kept),
        "powers": powers,
        "weights": powers / torch.cat([one.total for one in steps]),
        "output": torch.cat([one.output for one in steps]),
    }


def in_tiles(layer: Layer, rule: str, q_block: int, kv_block: int, tiles: int) -> Computed:
    """The output after some tiles, after all of them, and by `attention()`.

    A row that has read nothing yet is not a number.
    """
    query, key, value = project(layer.x, layer.head())
    allows, length, read = masks.RULES[rule], len(query), 0
    query_pos, key_pos = (p.to(query.device) for p in positions(length, length, q_block, kv_block))
    so_far = torch.full_like(value, torch.nan)
    for i in range(0, length, q_block):
        rows = slice(i, i + q_block)
        running = begin(query[rows], value)
        for j in range(0, length, kv_block):
            columns = slice(j, j + kv_block)
            allowed = allows(query_pos[rows], key_pos[:, columns])
            if allowed.any() and read < tiles:
                read += 1
                running = read_tile(running, query[rows], key[columns], value[columns], allowed)
                so_far[rows] = running.output
    whole = masks.build(allows, length, length).to(query.device)
    tiled = tiled_attention(query, key, value, allows, q_block, kv_block)
    output = attention(query, key, value, whole).output
    return {"output so far": so_far, "tiled": tiled, "attention": output}


def by_masks(length: int) -> dict[str, tuple[int, ...]]:
    """Of each mask: cells allowed, cells computed, tiles skipped, tiles there are."""
    sizes = length, length, SIDE, SIDE
    rules = sparse_rules().items()
    return {str(name): spared(tile_cells(rule, *sizes).tolist()) for name, rule in rules}


def cells(tokens: tuple[int, ...]) -> None:
    """The table of squares."""
    inputs, shown = {"tokens": [*tokens]}, squares([*tokens])
    take("squares", Recipe(_("n² cells"), squares, inputs, shown))


def row(lab: Lab, word: int, block: int, blocks: int, shown: dict[str, Any]) -> None:
    """The row as far as it was read."""
    inputs = {"layer": lab.layer, "word": word, "block": block, "blocks": blocks}
    take("row", Recipe(_("A row of scores in blocks"), in_blocks, inputs, shown))


def tiles(lab: Lab, rule: str, blocks: tuple[int, int], read: int, shown: Computed) -> None:
    """The tiles as far as they were read."""
    q_block, kv_block = blocks
    sizes = {"q_block": q_block, "kv_block": kv_block, "tiles": read}
    inputs = {"layer": lab.layer, "rule": rule, **sizes}
    take("tiles", Recipe(_("Attention in tiles"), in_tiles, inputs, shown))


def masks_of_long_text(length: int, found: dict[str, tuple[int, ...]]) -> None:
    """What masks spare."""
    title = _("What masks spare on a long text")
    take("spared", Recipe(title, by_masks, {"length": length}, found))


def two(q_len: int, kv_len: int) -> None:
    """Looking at another sequence, or joining it."""
    inputs, title = {"q_len": q_len, "kv_len": kv_len}, _("Two sequences, or one")
    take("two", Recipe(title, by_way, inputs, by_way(q_len, kv_len)))
