"""One head: every matrix as plain numbers, and their pictures."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.attention.single_head import Projections, project
from explainers.attention.steps import Steps, attention_steps
from explainers.charts.matrix import Matrix, Values, blank_forbidden, find_largest
from explainers.charts.theme import FEATURE_AXIS, KEY_AXIS, QUERY_AXIS, TOKEN_AXIS
from explainers.messages import N_
from explainers.takeaway.recipe import Recipe
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.figure.panels import PRODUCT, Cell, Panel, Source, orient_panels
from explainers.ui.takeaway_files import take

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


SCORES = ("products", "scores", "masked")
"""Compared with each other, so drawn with one colour domain."""
MOST_LANES = 24
"""Dimensions side by side of which each has room for its digits."""


@dataclass(frozen=True)
class Kind:
    """What one of the matrices is: its axes, its role, and what it is made of.

    `formula` is of one that nothing was made of.
    """

    rows: str
    columns: str
    role: str = ""
    op: Operation | None = None
    inputs: tuple[str, ...] = ()
    formula: str = ""


PAIRS = QUERY_AXIS, KEY_AXIS
VECTORS = TOKEN_AXIS, FEATURE_AXIS
ROLES = {"Q": "query", "K": "key", "V": "value"}
KINDS = {
    "X": Kind(*VECTORS, formula=N_("embedding + position, a row per token")),
    **{
        f"W_{name}": Kind(
            *(FEATURE_AXIS, FEATURE_AXIS, role),
            formula=N_("X's dimensions in, {name}'s out", name=name),
        )
        for name, role in ROLES.items()
    },
    **{name: Kind(*VECTORS, role, TIMES, ("X", f"W_{name}")) for name, role in ROLES.items()},
    "products": Kind(*PAIRS, "", MATCHED, ("Q", "K")),
    "scores": Kind(*PAIRS, "", SCALED, ("products",)),
    N_("masked"): Kind(*PAIRS, "", HIDDEN, ("scores",)),
    "weights": Kind(*PAIRS, "", SHARED_OUT, ("masked",)),
    "output": Kind(QUERY_AXIS, FEATURE_AXIS, "", TIMES, ("weights", "V")),
}


@dataclass(frozen=True)
class OneHead:
    """What one run of `attention_steps` computed, ready to be drawn and explained."""

    tokens: tuple[str, ...]
    numbers: dict[str, Numbers]

    @classmethod
    def of(cls, layer: Layer, views: Projections, run: Steps, number: int = 0) -> "OneHead":
        """Take the tensors of one of the heads, without leading axes, to plain numbers."""
        head = layer.head(number)
        tensors = (layer.x, head.w_query, head.w_key, head.w_value, *views, *run)
        numbers = {name: tensor.tolist() for name, tensor in zip(KINDS, tensors, strict=True)}
        return cls(layer.tokens, numbers)

    @property
    def nodes(self) -> dict[str, Node]:
        """The matrices by their names, each with those that it is made of."""
        nodes: dict[str, Node] = {}
        for name, kind in KINDS.items():
            words = self.tokens if name in ("weights", "output") else ()
            inputs = tuple(nodes[one] for one in kind.inputs)
            nodes[name] = Node(name, self.numbers[name], kind.op, inputs, words)
        return nodes

    @property
    def explain(self) -> Callable[[Cell], Arithmetic]:
        """What to ask about any number of this head."""
        return make_explainer(self.nodes.values())

    def matrix(self, name: str) -> Matrix:
        """One matrix with its labels; pairs the mask forbids are blank."""
        kind, numbers = KINDS[name], self.numbers[name]
        values: Values = numbers
        if name in ("masked", "weights"):
            allowed = [[score != -inf for score in row] for row in self.numbers["masked"]]
            values = blank_forbidden(numbers, allowed)
        return Matrix(
            name,
            kind.op.formula.format(*kind.inputs) if kind.op else kind.formula,
            values,
            self._labels(kind.rows, len(numbers)),
            self._labels(kind.columns, len(numbers[0])),
            kind.rows,
            kind.columns,
            kind="weights" if name == "weights" else "signed",
            role=kind.role,
            limit=find_largest(self.numbers["products"]) if name in SCORES else None,
            blank={"masked": "−∞", "weights": "0"}.get(name, ""),
        )

    @property
    def compared(self) -> str:
        """What softmax reads: the scores, with −∞ where the mask hides any."""
        return "masked" if any(-inf in row for row in self.numbers["masked"]) else "scores"

    def panel(self, name: str, operator: str = "", has_page: bool = False) -> Panel:
        """The matrix with the rows and columns that its numbers come from."""
        kind, matrix = KINDS[name], self.matrix(name)
        is_wide = kind.columns == FEATURE_AXIS and matrix.shape[1] > MOST_LANES
        inputs = (self.compared,) if name == "weights" else kind.inputs
        sources = kind.op.list_sources(inputs) if kind.op else ()
        return Panel(name, matrix, operator, has_page, sources, dense=is_wide)

    def step(self, name: str, queries_down: bool) -> list[Panel]:
        """One of the four steps: what goes in and what comes out."""
        if name == "products":
            return self.product("Q", "Kᵀ", name, queries_down)
        if name == "output":
            return self.product("weights", "V", name, queries_down)
        before = "products" if name == "scores" else self.compared
        return orient_panels([self.panel(before), self.panel(name, operator="→")], queries_down)

    def product(self, left: str, right: str, result: str, queries_down: bool) -> list[Panel]:
        """left · right = result; with the queries along the top, the same product transposed.

        A factor that stands there transposed is named so: "Kᵀ".
        """
        factors, row, column = (left, right), "row", "column"
        if not queries_down:  # (A · B)ᵀ = Bᵀ · Aᵀ
            factors, row, column = (_transpose_name(right), _transpose_name(left)), "column", "row"
        sources = Source(factors[0], row=row), Source(factors[1], column=column)
        made = replace(self.panel(result), sources=sources, flipped=not queries_down)
        panels = [self._factor(factors[0]), self._factor(factors[1]), made]
        return [replace(p, operator=o) for p, o in zip(panels, PRODUCT, strict=True)]

    def _factor(self, name: str) -> Panel:
        panel = self.panel(name.removesuffix("ᵀ"))
        if not name.endswith("ᵀ"):
            return panel
        itself = _(panel.id)
        formula = _("{name} with rows and columns exchanged", name=itself)
        turned = replace(panel.matrix.transposed(), name=f"{itself}ᵀ", formula=formula)
        return replace(panel, id=name, matrix=turned, sources=())

    def _labels(self, axis: str, length: int) -> list[str]:
        return list(self.tokens) if Matrix.has_tokens(axis) else [str(n) for n in range(length)]


def _transpose_name(name: str) -> str:
    return name.removesuffix("ᵀ") if name.endswith("ᵀ") else f"{name}ᵀ"


def attend(layer: Layer) -> tuple[Projections, Steps]:
    """Queries, keys and values of a sentence in the first head, and what they come to."""
    views = project(layer.x, layer.head())
    return views, attention_steps(*views, layer.mask)


def read_head(layer: Layer) -> OneHead:
    """The same, ready to be drawn, with all that goes in."""
    return OneHead.of(layer, *attend(layer))


def compute_matrices(layer: Layer) -> dict[str, Tensor]:
    """All that the first head of a layer computes."""
    made = compute_projections(layer)
    run = attention_steps(made["Q"], made["K"], made["V"], layer.mask)
    return made | run._asdict()


def compute_projections(layer: Layer) -> dict[str, Tensor]:
    """X, what the first head of a layer learned, and X times that."""
    views = project(layer.x, layer.head())
    return {"X": layer.x, **list_learned(layer), **dict(zip("QKV", views, strict=True))}


def list_learned(layer: Layer) -> dict[str, Tensor]:
    """The matrices that make queries, keys and values."""
    head = layer.head()
    return {"W_Q": head.w_query, "W_K": head.w_key, "W_V": head.w_value}


def take_head(
    title: str, layer: Layer, numbers: dict[str, Any], *more: Recipe, part: str = "head"
) -> None:
    """Every matrix of the picture, and what else belongs to it."""
    take(part, Recipe(title, compute_matrices, {"layer": layer}, numbers), *more)
