"""Token vectors on the page: embedding + position, and outputs of two word orders side by side."""

from collections.abc import Callable, Sequence

from torch import Tensor

from explainers import working
from explainers.attention.positions import Reordered
from explainers.charts.matrix import Matrix, sharing_colours
from explainers.charts.theme import FEATURE_AXIS, TOKEN_AXIS
from explainers.ui.figure import show_figure
from explainers.ui.panels import Cell, Panel, Source
from explainers.ui.picture import show_chart
from explainers.ui.prose import Prose
from explainers.ui.provenance import formula
from explainers.working import Working


def sum_of(words: Sequence[str], x: Tensor, placed: Tensor) -> list[Panel]:
    """E + P = X, one row per token."""
    matrices = sharing_colours(
        _matrix("E", "embedding: one row per word", words, x),
        _matrix("P", "position: one row per place", words, placed),
        _matrix("X", "what attention reads", words, x + placed),
    )
    sources = (), (), (Source("E", "row", "column"), Source("P", "row", "column"))
    return [
        Panel(matrix.name, matrix, operator, sources=source)
        for matrix, operator, source in zip(matrices, ("", "+", "="), sources, strict=True)
    ]


def working_of(x: Tensor, placed: Tensor) -> Callable[[Cell], Working]:
    """The arithmetic of one number of E, P or X."""
    left, right, total = x.tolist(), placed.tolist(), (x + placed).tolist()

    def explain(cell: Cell) -> Working:
        i, j = cell.row, cell.column
        name = f"{cell.panel}[{i}, {j}]"
        if cell.panel == "X":
            return working.addition(left[i][j], right[i][j], total[i][j], name)
        if cell.panel == "E":
            return working.given(left[i][j], name)
        wave = "sine" if j % 2 == 0 else "cosine"
        line = f"{name} = {right[i][j]:.4f}: the {wave} of place {i} on wave {j // 2}."
        return working.given(right[i][j], name, line)

    return explain


def show_waves(positions: Tensor) -> None:
    """The position vectors (length, d_model) as a heat map."""
    from explainers.charts.waves import wave_rows, waves  # the first page needs no altair

    length, d_model = positions.shape
    alt = f"Heat map of {length} position vectors: fast waves on the left, slow on the right."
    origin = formula("sines and cosines", positions.device)
    rows = wave_rows(positions.tolist())
    show_chart(waves, rows, alt, "positions", origin, length=length, d_model=d_model)


def show_reordered(
    text: Prose, words: Sequence[str], order: Tensor, outputs: Reordered, name: str, origin: str
) -> None:
    """The outputs of both orders, each row labelled with its word, and how far they differ."""
    shuffled = [words[token] for token in order.tolist()]
    moved = (outputs.after - outputs.before).abs().max().item()
    text(name, moved=f"{moved:.1g}", shuffled=" · ".join(shuffled))
    matrices = sharing_colours(
        _matrix("in the sentence's order", "rows of the output", shuffled, outputs.before),
        _matrix("shuffled", "rows of the output", shuffled, outputs.after),
    )
    panels = [Panel(matrix.name, matrix) for matrix in matrices]
    show_figure(panels, origin, name)


def _matrix(name: str, formula: str, words: Sequence[str], values: Tensor) -> Matrix:
    columns = [str(n) for n in range(values.shape[1])]
    return Matrix(name, formula, values.tolist(), words, columns, TOKEN_AXIS, FEATURE_AXIS)
