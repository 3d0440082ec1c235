"""Token vectors: embedding + position, and the outputs of two computations side by side."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.attention.positions import Reordered
from explainers.chapters.common.score_matrix import ROUNDING
from explainers.charts.matrix import Matrix, share_domain
from explainers.charts.theme import FEATURE_AXIS, POSITION_AXIS, TOKEN_AXIS
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.figure.clickable_figure import show_clickable_figure
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel, Slider, Source, orient_panels

ANSWERS = (
    N_("the same outputs, only rearranged"),
    N_("a different output for every word"),
    N_("a different output only for the words that moved"),
)


def make_sum_panels(words: Sequence[str], x: Tensor, positions: Tensor) -> list[Panel]:
    """E + P = X, one row per token."""
    matrices = share_domain(
        _make_matrix("E", _("embedding: one row per word"), words, x),
        _make_matrix("P", _("position: one row per position"), words, positions),
        _make_matrix("X", _("what attention reads"), words, x + positions),
    )
    sources = (), (), (Source("E", "row", "column"), Source("P", "row", "column"))
    return [
        Panel(matrix.name, matrix, operator, sources=source)
        for matrix, operator, source in zip(matrices, ("", "+", "="), sources, strict=True)
    ]


def explain_sum(x: Tensor, positions: Tensor, longest: float) -> Callable[[Cell], Arithmetic]:
    """The arithmetic of one number of E, P or X."""
    left, right, total = x.tolist(), positions.tolist(), (x + positions).tolist()

    def explain(cell: Cell) -> Arithmetic:
        i, j = cell.row, cell.column
        name = f"{cell.panel}[{i}, {j}]"
        if cell.panel == "X":
            return arithmetic.explain_addition(left[i][j], right[i][j], total[i][j], name)
        if cell.panel == "P":
            return arithmetic.explain_wave(i, j, x.shape[1], longest, right[i][j], name)
        return arithmetic.explain_input(left[i][j], name)

    return explain


def show_waves(by_base: Sequence[Tensor], bases: Slider, origin: str) -> None:
    """The position vectors (length, d_model) of each base as a heat map."""
    length, d_model = by_base[0].shape
    rows, columns = ([str(n) for n in range(size)] for size in (d_model, length))
    frames = tuple(positions.T.tolist() for positions in by_base)
    matrix = Matrix(
        "P",
        _("sines and cosines: fast waves above, slow waves below"),
        frames[bases.index],
        rows,
        columns,
        FEATURE_AXIS,
        POSITION_AXIS,
        limit=1.0,
    )
    alt = _(
        "Heat map of {length} position vectors side by side: fast waves above, slow ones below.",
        length=length,
    )
    follower = replace(bases, hidden=True)
    show_figure(
        Figure([Panel("P", matrix, frames=frames)], alt, slider=follower), origin, "positions"
    )


def make_output_matrix(name: str, words: Sequence[str], rows: Tensor) -> Matrix:
    """What each word got, a row per word."""
    return _make_matrix(name, _("rows of the output"), words, rows)


def show_matrix_pair(
    left: Matrix,
    right: Matrix,
    origin: str,
    key: str,
    queries_down: bool = True,
    factors: Sequence[tuple[Tensor, Tensor]] = (),
) -> None:
    """Two tables side by side in the same colours; with `factors`, a click shows the arithmetic.

    Of each table its factors are A and B in A · Bᵀ.
    """
    matrices = share_domain(left, right)
    panels = orient_panels([Panel(matrix.name, matrix) for matrix in matrices], queries_down)
    alt = _("Two tables of the same size: {left}, and {right}.", left=left.name, right=right.name)
    if not factors:
        show_figure(Figure(panels, alt), origin, key)
        return
    factors_by_name = dict(
        zip((left.name, right.name), zip(matrices, factors, strict=True), strict=True)
    )

    def explain(cell: Cell) -> Arithmetic:
        matrix, (rows, columns) = factors_by_name[cell.panel]
        value = matrix.values[cell.row][cell.column] or 0.0
        name = f"{cell.panel}[{cell.row}, {cell.column}]"
        pair = rows[cell.row].tolist(), columns[cell.column].tolist()
        return arithmetic.explain_dot_product(*pair, value, name)

    show_clickable_figure(panels, explain, origin, key, alt)


def find_largest_change(outputs: Reordered) -> float:
    """The largest change of any number."""
    return (outputs.after - outputs.before).abs().max().item()


def describe_change(outputs: Reordered) -> str:
    """Which of the answers the comparison gives."""
    changed = (outputs.after - outputs.before).abs().amax(dim=-1) >= ROUNDING
    if not changed.any():
        return ANSWERS[0]
    return ANSWERS[1 if changed.all() else 2]


def show_two_orders(
    words: Sequence[str], order: Tensor, outputs: Reordered, origin: str, key: str
) -> None:
    """What each word got in the sentence's order and in the shuffled one, matched by word."""
    shuffled = [words[token] for token in order.tolist()]
    left = make_output_matrix(_("read in order, then rearranged"), shuffled, outputs.before)
    show_matrix_pair(
        left, make_output_matrix(_("read shuffled"), shuffled, outputs.after), origin, key
    )


def _make_matrix(name: str, formula: str, words: Sequence[str], values: Tensor) -> Matrix:
    columns = [str(n) for n in range(values.shape[1])]
    return Matrix(name, formula, values.tolist(), words, columns, TOKEN_AXIS, FEATURE_AXIS)
