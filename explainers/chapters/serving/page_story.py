"""Two prompts in one paged memory, told in five steps by the cache that the page shows."""

import functools
from typing import NamedTuple

import torch

from explainers.attention.serving.paged_cache import (
    Pages,
    Table,
    empty_pages,
    gather,
    point_at,
    write_row,
)

PAGES, OTHERS = 12, (1, 4, 7)
"""Pages in the memory, and those that other texts use already."""
PROMPT = 1000
"""A row of the second prompt holds this and its place, one of the first its place alone."""


class Moment(NamedTuple):
    """The memory and both tables after a step, and how many rows were copied in it."""

    memory: Pages
    tables: tuple[Table, Table]
    copied: int = 0


@functools.lru_cache(maxsize=32)
def tell_pages(first: int, second: int, shared: int, slots: int) -> tuple[Moment, ...]:
    """Prompts of `first` and `second` tokens, `shared` of them alike, in pages of `slots`.

    Each row holds a number that says whose it is, so that one can look where it went.
    """
    nothing, most = Table((), 0), max(PAGES, 2 * (first + second) // slots)
    memory = point_at(empty_pages(most, 1, slots, 1), Table(OTHERS, 0), 1)
    memory, one = write_places(memory, nothing, range(first))
    story = [Moment(memory, (one, nothing))]
    shared = min(shared, second - 1)
    two = Table(one.pages[: -(-shared // slots)], shared)
    memory = point_at(memory, two, 1)
    story.append(Moment(memory, (one, two)))
    before = two
    memory, two = write_places(memory, two, [PROMPT + shared])
    is_copied = len(two.pages) == len(before.pages) and two.pages != before.pages
    copied = shared % slots if is_copied else 0
    story.append(Moment(memory, (one, two), copied))
    memory, two = write_places(memory, two, range(PROMPT + shared + 1, PROMPT + second))
    story.append(Moment(memory, (one, two)))
    memory = point_at(memory, one, -1)
    story.append(Moment(memory, (nothing, two)))
    return tuple(story)


def write_places(memory: Pages, table: Table, rows: "range | list[int]") -> tuple[Pages, Table]:
    """Rows that hold nothing but a number."""
    for row in rows:
        number = torch.tensor([[float(row)]])
        memory, table = write_row(memory, table, number, number)
    return memory, table


def list_rows(memory: Pages, table: Table) -> list[int]:
    """The numbers in the rows of a text, in their order."""
    return gather(memory, table).key[0, :, 0].int().tolist() if table.pages else []
