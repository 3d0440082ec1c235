"""Matrices that have room for the whole text, filled as far as it was read."""

from collections.abc import Sequence

from torch import Tensor

from explainers.charts.matrix import Values
from explainers.lessons.kv_cache.written import Written


def one_row(run: Written, place: int, row: Sequence[float | None]) -> Values:
    """One word has a row, the others none."""
    blank: list[float | None] = [None] * len(row)
    return [row if n == place else blank for n in range(len(run.tokens))]


def padded(run: Written, row: Tensor) -> list[float | None]:
    """A number for each word read so far (kv_len,), then blanks."""
    return [*row.tolist(), *[None] * (len(run.tokens) - len(row))]


def filled(run: Written, rows: Tensor) -> Values:
    """A row for each word read so far (kv_len, head_dim), then blank ones."""
    blank: list[float | None] = [None] * rows.shape[-1]
    return [*rows.tolist(), *[blank] * (len(run.tokens) - len(rows))]
