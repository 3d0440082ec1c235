"""The arithmetic of each number of one head, from the numbers it was computed from."""

from collections.abc import Callable
from functools import partial

from explainers import working
from explainers.lessons.one_head import OneHead
from explainers.ui.panels import Cell
from explainers.working import Working


def arithmetic_of(one_head: OneHead) -> Callable[[Cell], Working]:
    """What to ask about any cell of this head."""
    return partial(_arithmetic, one_head)


def _arithmetic(one_head: OneHead, cell: Cell) -> Working:
    """How the number in `cell` came to be; in a right factor named "Kᵀ" the axes are exchanged."""
    name, i, j = cell.panel.removesuffix("ᵀ"), cell.row, cell.column
    if cell.panel.endswith("ᵀ"):
        i, j = j, i
    numbers = one_head.numbers
    value = numbers[name][i][j]
    what = f"{name}[{i}, {j}]"
    match name:
        case "Q" | "K" | "V":
            column = [line[j] for line in numbers[f"W_{name}"]]
            return working.dot_product(numbers["X"][i], column, value, what)
        case "products":
            query, key = numbers["Q"][i], numbers["K"][j]
            return working.dot_product(query, key, value, what)
        case "scores":
            return working.division(numbers["products"][i][j], one_head.head_dim, value, what)
        case "weights":
            return working.softmax(numbers["masked"][i], j, value, one_head.tokens)
        case "output":
            column = [line[j] for line in numbers["V"]]
            return working.dot_product(numbers["weights"][i], column, value, what)
        case "masked":
            return working.masked(numbers["scores"][i][j], value, what)
    return working.given(value, what)
