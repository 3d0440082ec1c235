"""A cache in pages: rows lie anywhere, and a table says where (Kwon et al. 2023, 4.1 to 4.4)."""

from typing import NamedTuple

import torch
from torch import Tensor

from explainers.attention.cache.kv_cache import Cache


class Pages(NamedTuple):
    """The memory for all texts, and how many texts point at each page: 0 is free.

    key, value (pages, kv_heads, slots, head_dim), users (pages,).
    """

    key: Tensor
    value: Tensor
    users: Tensor


class Table(NamedTuple):
    """Where the rows of one text lie: its pages in order, and how many slots it has filled."""

    pages: tuple[int, ...]
    filled: int


def empty_pages(pages: int, kv_heads: int, slots: int, head_dim: int) -> Pages:
    """Memory that is set aside once; no text has a page yet."""
    zeros = torch.zeros(pages, kv_heads, slots, head_dim)  # (pages, kv_heads, slots, head_dim)
    users = torch.zeros(pages, dtype=torch.long)  # (pages,)
    return Pages(zeros, zeros, users)


def point_at(memory: Pages, table: Table, more: int) -> Pages:
    """One text more (1) or less (−1) uses these pages. Nothing is copied, nothing is erased."""
    users = memory.users.clone()  # (pages,)
    users[list(table.pages)] += more
    return memory._replace(users=users)


def make_room(memory: Pages, table: Table) -> tuple[Pages, Table]:
    """The last page if it has a free slot of the text's own; else a new page, or a copy."""
    is_begun = table.filled % memory.key.shape[-2] > 0
    if is_begun and memory.users[table.pages[-1]] == 1:
        return memory, table
    free = (memory.users == 0).nonzero().flatten().tolist()
    if not free:
        raise ValueError(f"all {len(memory.users)} pages are in use")
    kept = table.pages[: table.filled // memory.key.shape[-2]]
    memory = point_at(memory, Table((free[0],), 0), 1)
    if is_begun:  # copy on write: somebody else reads the old page
        memory = point_at(memory, Table(table.pages[-1:], 0), -1)
        keys, values = memory.key.clone(), memory.value.clone()
        keys[free[0]], values[free[0]] = keys[table.pages[-1]], values[table.pages[-1]]
        memory = memory._replace(key=keys, value=values)
    return memory, Table((*kept, free[0]), table.filled)


def write_row(memory: Pages, table: Table, key: Tensor, value: Tensor) -> tuple[Pages, Table]:
    """A new token's key and value (kv_heads, head_dim) into the next slot of its text."""
    memory, table = make_room(memory, table)
    page, slot = table.pages[-1], table.filled % memory.key.shape[-2]
    keys, values = memory.key.clone(), memory.value.clone()
    keys[page, :, slot], values[page, :, slot] = key, value
    return memory._replace(key=keys, value=values), table._replace(filled=table.filled + 1)


def gather(memory: Pages, table: Table) -> Cache:
    """The rows of a text in their order, as `look_up` reads them."""
    pages = list(table.pages)
    key, value = memory.key[pages].transpose(0, 1), memory.value[pages].transpose(0, 1)
    keys = key.flatten(1, 2)[:, : table.filled]  # (kv_heads, kv_len, head_dim)
    values = value.flatten(1, 2)[:, : table.filled]  # (kv_heads, kv_len, head_dim)
    return Cache(keys, values, table.filled)
