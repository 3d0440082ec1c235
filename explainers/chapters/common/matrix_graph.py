"""Matrices as a graph: what each is made of gives its formula, its sources and its arithmetic."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.messages import N_
from explainers.ui.figure.panels import Cell, Source

Numbers = list[list[float]]


@dataclass(frozen=True)
class Node:
    """A matrix: its numbers, and by what operation they come of which others.

    `words` are whose the terms of a sum are, where they are words'.
    """

    name: str
    numbers: Numbers
    op: "Operation | None" = None
    inputs: tuple["Node", ...] = ()
    words: Sequence[str] = ()

    def explain(self, row: int, column: int) -> Arithmetic:
        """How one of the numbers came to be, line by line; what nothing was made of is given."""
        value, what = self.numbers[row][column], f"{self.name}[{row}, {column}]"
        if self.op is None:
            return arithmetic.explain_input(value, what)
        return self.op.explain(self, row, column, value, what)


@dataclass(frozen=True)
class Operation:
    """How a matrix comes of others.

    `formula` may name its inputs at places; `sources` are what a number reads of each input:
    which row and which column of it, by those of the number itself. None is all of them.
    """

    formula: str
    sources: tuple[tuple[str | None, str | None], ...]
    explain: Callable[[Node, int, int, float, str], Arithmetic]

    def list_sources(self, inputs: Iterable[str]) -> tuple[Source, ...]:
        """What lights up in the inputs of these names when a number is pointed at."""
        return tuple(Source(n, *read) for n, read in zip(inputs, self.sources, strict=True))


def _explain_product(node: Node, row: int, column: int, value: float, what: str) -> Arithmetic:
    left, right = node.inputs
    entries = [line[column] for line in right.numbers]
    return arithmetic.explain_dot_product(left.numbers[row], entries, value, what, node.words)


def _explain_match(node: Node, row: int, column: int, value: float, what: str) -> Arithmetic:
    query, key = node.inputs
    return arithmetic.explain_dot_product(query.numbers[row], key.numbers[column], value, what)


def _explain_scaling(node: Node, row: int, column: int, value: float, what: str) -> Arithmetic:
    (products,) = node.inputs
    head_dim = len(products.inputs[0].numbers[row])
    return arithmetic.explain_division(products.numbers[row][column], head_dim, value, what)


def _explain_hiding(node: Node, row: int, column: int, value: float, what: str) -> Arithmetic:
    return arithmetic.explain_masking(node.inputs[0].numbers[row][column], value, what)


def _explain_share(node: Node, row: int, column: int, value: float, _what: str) -> Arithmetic:
    return arithmetic.explain_softmax(node.inputs[0].numbers[row], column, value, node.words)


TIMES = Operation("{} · {}", (("row", None), (None, "column")), _explain_product)
MATCHED = Operation("{} · {}ᵀ", (("row", None), ("column", None)), _explain_match)
SCALED = Operation("Q · Kᵀ ÷ √d_k", (("row", "column"),), _explain_scaling)
HIDDEN = Operation(N_("−∞ where forbidden"), (("row", "column"),), _explain_hiding)
SHARED_OUT = Operation(N_("softmax: every row sums to 1"), (("row", None),), _explain_share)


def make_explainer(nodes: Iterable[Node]) -> Callable[[Cell], Arithmetic]:
    """What to ask about any number of these; in a factor named "Kᵀ" the axes are exchanged."""
    by_name = {node.name: node for node in nodes}

    def explain(cell: Cell) -> Arithmetic:
        place = cell.row, cell.column
        turned = place[::-1] if cell.panel.endswith("ᵀ") else place
        return by_name[cell.panel.removesuffix("ᵀ")].explain(*turned)

    return explain
