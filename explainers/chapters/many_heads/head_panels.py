"""The panels of a layer's heads: all of them, side by side, through W_O; and their arithmetic."""

from collections.abc import Callable, Sequence
from functools import partial
from math import inf

from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.chapters.many_heads.selection import Selection
from explainers.charts.matrix import Matrix, blank_forbidden, make_pair_matrix
from explainers.charts.theme import FEATURE_AXIS, TOKEN_AXIS
from explainers.messages import N_
from explainers.translations import _, say_value
from explainers.ui.figure.panels import Cell, Panel

SIDE_BY_SIDE, LAYER = N_("heads"), N_("layer")


def name_panel(head: int) -> str:
    """What a head's pictures are called."""
    return N_("head {head}", head=head)


def draw_steps(looked: Selection) -> list[Panel]:
    """Every head attends; the outputs are laid side by side, and W_O mixes them."""
    heads = looked.layer.heads
    lanes = [f"{head}.{n}" for head in range(looked.num_heads) for n in range(heads.head_dim)]
    side_by_side = looked.per_head.transpose(0, 1).flatten(1)
    example = _("column 2.0: head 2, dimension 0")
    first = _make_layer_matrix(SIDE_BY_SIDE, example, side_by_side, looked, lanes)
    columns = [str(n) for n in range(looked.output.shape[1])]
    last = _make_layer_matrix(LAYER, _("what the layer hands on"), looked.output, looked, columns)
    return [
        *(_draw_head(looked, head) for head in range(looked.num_heads)),
        Panel(SIDE_BY_SIDE, first, "→", dense=True, followed=looked.word),
        Panel(LAYER, last, _("· W_O ="), followed=looked.word),
    ]


def _make_layer_matrix(
    name: str, formula: str, values: Tensor, looked: Selection, columns: Sequence[str]
) -> Matrix:
    return Matrix(
        name, formula, values.tolist(), looked.layer.tokens, columns, TOKEN_AXIS, FEATURE_AXIS
    )


def _draw_head(looked: Selection, head: int) -> Panel:
    """A miniature of its weights, in which the row of the chosen word is framed."""
    name, layer = name_panel(head), looked.layer
    values = blank_forbidden(looked.run.weights[head].tolist(), layer.mask.tolist())
    strongest = _describe_strongest(looked, head)
    matrix = make_pair_matrix(name, strongest, values, layer.tokens, "weights")
    return Panel(name, matrix, small=True, muted=head in looked.off, followed=looked.word)


def _describe_strongest(looked: Selection, head: int) -> str:
    """Where the chosen word looks most in this head."""
    if head in looked.off:
        return _("switched off")
    weight, key = looked.run.weights[head, looked.word].max(dim=-1)
    tokens = looked.layer.tokens
    return f"{tokens[looked.word]} → {tokens[int(key)]} {say_value(f'{weight:.2f}')}"


def make_heads_explainer(looked: Selection) -> Callable[[Cell], Arithmetic]:
    """What to ask about any cell of the picture."""
    return partial(_explain_cell, looked)


def _explain_cell(looked: Selection, cell: Cell) -> Arithmetic:
    i, j, what = cell.row, cell.column, f"{cell.panel}[{cell.row}, {cell.column}]"
    if cell.panel == SIDE_BY_SIDE:
        return _explain_mixing(looked, i, j, what)
    if cell.panel == LAYER:
        row = looked.per_head.transpose(0, 1).flatten(1)[i]
        column, value = looked.layer.heads.w_output[:, j], looked.output[i, j].item()
        return arithmetic.explain_dot_product(row.tolist(), column.tolist(), value, what)
    head = int(cell.panel.removeprefix("head "))
    scores, mask = looked.run.scores[head, i].tolist(), looked.layer.mask[i].tolist()
    allowed = [score if seen else -inf for score, seen in zip(scores, mask, strict=True)]
    weight = looked.run.weights[head, i, j].item()
    return arithmetic.explain_softmax(allowed, j, weight, looked.layer.tokens)


def _explain_mixing(looked: Selection, row: int, column: int, what: str) -> Arithmetic:
    """A number that a head hands on."""
    head, lane = divmod(column, looked.layer.heads.head_dim)
    if head in looked.off:
        line = _("{number} = 0: head {head} is switched off.", number=what, head=head)
        return arithmetic.explain_input(0.0, what, line)
    weights, values = looked.run.weights[head, row], looked.run.value[head, :, lane]
    value, tokens = looked.per_head[head, row, lane].item(), looked.layer.tokens
    return arithmetic.explain_dot_product(weights.tolist(), values.tolist(), value, what, tokens)
