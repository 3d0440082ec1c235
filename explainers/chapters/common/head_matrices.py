"""Matrices of the heads of one layer: small, side by side, numbered, with a pair to look at."""

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from explainers.charts.matrix import Matrix, blank_forbidden, make_pair_matrix
from explainers.ui.figure.panels import Panel


def make_head_matrices(
    name: str,
    formulas: Sequence[str],
    numbers: Tensor,
    tokens: Sequence[str],
    mask: Tensor,
    kind: str = "weights",
) -> list[Matrix]:
    """A matrix per head (heads, q_len, kv_len), its number in the `name`; what the mask forbids is
    blank."""
    matrices, seen = [], mask.tolist()
    for head, (reading, values) in enumerate(zip(formulas, numbers.tolist(), strict=True)):
        allowed = blank_forbidden(values, seen)
        matrices.append(make_pair_matrix(name.format(head=head), reading, allowed, tokens, kind))
    return matrices


def make_miniatures(matrices: Sequence[Matrix], of_each: str, heading: str) -> list[Panel]:
    """Small panels in a line under a heading; `of_each` and a number tell them apart."""
    drawn_small = [Panel(f"{of_each} {n}", one, small=True) for n, one in enumerate(matrices)]
    first, *others = drawn_small
    return [replace(first, heading=heading), *others]


def name_by_head(name: str, each: Tensor) -> dict[str, Tensor]:
    """A matrix per head."""
    return {f"{name} {head}": numbers for head, numbers in enumerate(each)}


def choose_pair(tokens: Sequence[str]) -> tuple[int, int]:
    """Which word asks and which is asked: in the running sentence, announced asks CEO."""
    return min(2, len(tokens) - 1), min(1, len(tokens) - 1)
