"""Every matrix of one head as plain numbers, and the pictures made of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from explainers.attention.single_head import Projections, SingleHead
from explainers.attention.steps import Steps
from explainers.charts.matrix import Matrix
from explainers.charts.theme import FEATURE_AXIS, KEY_AXIS, QUERY_AXIS, TOKEN_AXIS
from explainers.ui.panels import PRODUCT, Panel, Source, oriented

Numbers = list[list[float]]
AXES = {
    "X": (TOKEN_AXIS, FEATURE_AXIS),
    "W_Q": (FEATURE_AXIS, FEATURE_AXIS),
    "W_K": (FEATURE_AXIS, FEATURE_AXIS),
    "W_V": (FEATURE_AXIS, FEATURE_AXIS),
    "Q": (QUERY_AXIS, FEATURE_AXIS),
    "K": (KEY_AXIS, FEATURE_AXIS),
    "V": (KEY_AXIS, FEATURE_AXIS),
    "products": (QUERY_AXIS, KEY_AXIS),
    "scores": (QUERY_AXIS, KEY_AXIS),
    "masked": (QUERY_AXIS, KEY_AXIS),
    "weights": (QUERY_AXIS, KEY_AXIS),
    "output": (QUERY_AXIS, FEATURE_AXIS),
}
FORMULAS = {
    "X": "one row per token",
    "W_Q": "random here, learned in a model",
    "W_K": "random here, learned in a model",
    "W_V": "random here, learned in a model",
    "Q": "X · W_Q",
    "K": "X · W_K",
    "V": "X · W_V",
    "products": "Q · Kᵀ",
    "scores": "Q · Kᵀ ÷ √d_k",
    "masked": "−∞ where forbidden",
    "weights": "softmax: every row sums to 1",
    "output": "weights · V",
}
ROLES = {"Q": "query", "W_Q": "query", "K": "key", "W_K": "key", "V": "value", "W_V": "value"}
SOURCES = {
    "Q": (Source("X", row="row"), Source("W_Q", column="column")),
    "K": (Source("X", row="row"), Source("W_K", column="column")),
    "V": (Source("X", row="row"), Source("W_V", column="column")),
    "products": (Source("Q", row="row"), Source("K", row="column")),
    "scores": (Source("products", row="row", column="column"),),
    "masked": (Source("scores", row="row", column="column"),),
    "weights": (Source("masked", row="row"),),
    "output": (Source("weights", row="row"), Source("V", column="column")),
}


@dataclass(frozen=True)
class OneHead:
    """What one run of `attention_steps` computed, ready to be drawn and explained."""

    tokens: tuple[str, ...]
    head_dim: int
    numbers: dict[str, Numbers]

    @classmethod
    def of(
        cls,
        tokens: Sequence[str],
        x: Tensor,
        head: SingleHead,
        projections: Projections,
        run: Steps,
    ) -> "OneHead":
        """Take the tensors of one head, without leading axes, to plain numbers."""
        tensors = {
            "X": x,
            "W_Q": head.w_query,
            "W_K": head.w_key,
            "W_V": head.w_value,
            "Q": projections.query,
            "K": projections.key,
            "V": projections.value,
            "products": run.products,
            "scores": run.scores,
            "masked": run.allowed,
            "weights": run.weights,
            "output": run.output,
        }
        numbers = {name: tensor.tolist() for name, tensor in tensors.items()}
        return cls(tuple(tokens), head.w_query.shape[1], numbers)

    def matrix(self, name: str) -> Matrix:
        """One matrix with its labels; pairs the mask forbids are blank."""
        numbers = self.numbers[name]
        row_axis, column_axis = AXES[name]
        blank = name in ("masked", "weights")
        hidden = self.numbers["masked"]
        values: list[list[float | None]] = [
            [None if blank and hidden[i][j] == -float("inf") else v for j, v in enumerate(line)]
            for i, line in enumerate(numbers)
        ]
        return Matrix(
            name,
            FORMULAS[name],
            values,
            self._labels(row_axis, len(numbers)),
            self._labels(column_axis, len(numbers[0])),
            row_axis,
            column_axis,
            kind="weights" if name == "weights" else "signed",
            role=ROLES.get(name, ""),
        )

    def panel(self, name: str, operator: str = "", link: str = "") -> Panel:
        """The matrix with the rows and columns that its numbers come from."""
        return Panel(name, self.matrix(name), operator, link, SOURCES.get(name, ()))

    def step(self, name: str, queries_down: bool) -> list[Panel]:
        """One of the four steps: what goes in and what comes out."""
        match name:
            case "products":
                return self.product("Q", "Kᵀ", "products", queries_down)
            case "output":
                return self.product("weights", "V", "output", queries_down)
            case "scores":
                before, after = "products", "scores"
            case _:
                before, after = "masked", "weights"
        return oriented([self.panel(before), self.panel(after, operator="→")], queries_down)

    def product(self, left: str, right: str, result: str, queries_down: bool) -> list[Panel]:
        """left · right = result; with the queries along the top, the same product transposed.

        A right factor that stands there transposed is named so: "Kᵀ".
        """
        right_panel = self.panel(right.removesuffix("ᵀ"))
        if right.endswith("ᵀ"):
            turned = replace(right_panel.matrix.transposed(), name=right)
            right_panel = replace(right_panel, matrix=turned, id=right)
        result_panel = self.panel(result)
        by_column = Source(right_panel.id, column="column")
        result_panel = replace(result_panel, sources=(Source(left, row="row"), by_column))
        panels = [self.panel(left), right_panel, result_panel]
        if not queries_down:
            panels = [replace(panel, flipped=True) for panel in (right_panel, panels[0], panels[2])]
        return [replace(p, operator=o) for p, o in zip(panels, PRODUCT, strict=True)]

    def _labels(self, axis: str, length: int) -> list[str]:
        return list(self.tokens) if Matrix.has_tokens(axis) else [str(n) for n in range(length)]
