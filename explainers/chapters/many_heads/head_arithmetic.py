"""The arithmetic of each number of a layer of heads."""

from collections.abc import Callable
from functools import partial
from math import inf

import torch
from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.chapters.common.one_head import make_explainer
from explainers.chapters.many_heads import head_panels
from explainers.chapters.many_heads.head_panels import enlarge_head, parse_head
from explainers.chapters.many_heads.selection import Selection
from explainers.toys.layers import TrainedHeads
from explainers.translations import _
from explainers.ui.figure.panels import Cell, View


def view_heads(looked: Selection, queries_down: bool) -> View:
    """The whole layer in one picture, and what to ask about its numbers."""
    return View(head_panels.make_layer_panels(looked, queries_down), make_heads_explainer(looked))


def make_heads_explainer(looked: Selection) -> Callable[[Cell], Arithmetic]:
    """What to ask about any cell of the picture."""
    return partial(_explain_cell, looked)


def _explain_cell(looked: Selection, cell: Cell) -> Arithmetic:
    i, j, what = cell.row, cell.column, f"{cell.panel}[{cell.row}, {cell.column}]"
    head, w_output = parse_head(cell.panel), looked.layer.heads.w_output
    if head is not None:
        return _explain_weight(looked, head, i, j)
    match cell.panel:
        case head_panels.SIDE_BY_SIDE:
            head, lane = divmod(j, looked.layer.heads.head_dim)
            if head in looked.off:
                line = _("{number} = 0: head {head} is switched off.", number=what, head=head)
                return arithmetic.explain_input(0.0, what, line)
            weights, column = looked.run.weights[head, i], looked.run.value[head, :, lane]
            value = looked.per_head[head, i, lane].item()
            return arithmetic.explain_dot_product(
                weights.tolist(), column.tolist(), value, what, looked.layer.tokens
            )
        case head_panels.W_O:
            value = w_output[looked.rows_of_w_output[i], j].item()
            return arithmetic.explain_input(
                value, what, _describe_beginning(looked, f"{what} = {value:z.4f}")
            )
        case head_panels.LAYER:
            row, column = looked.per_head.transpose(0, 1).flatten(1)[i], w_output[:, j]
            value = looked.output[i, j].item()
            return arithmetic.explain_dot_product(row.tolist(), column.tolist(), value, what)
        case head_panels.PARTS | head_panels.SHARES:
            return _explain_part(looked, cell.panel, i, j, what)
        case head_panels.VOTES | head_panels.NAMED if looked.learned:
            return _explain_vote(looked, looked.learned, cell.panel, i, j, what)
    return make_explainer(enlarge_head(looked))(cell)


def _explain_weight(looked: Selection, head: int, row: int, column: int) -> Arithmetic:
    """A weight of a head's miniature."""
    scores, mask = looked.run.scores[head, row].tolist(), looked.layer.mask[row].tolist()
    allowed = [score if seen else -inf for score, seen in zip(scores, mask, strict=True)]
    value = looked.run.weights[head, row, column].item()
    return arithmetic.explain_softmax(allowed, column, value, looked.layer.tokens)


def _describe_beginning(looked: Selection, number: str) -> str:
    """Where a number of W_O comes from."""
    if looked.learned is None:
        return _("{number}: drawn at random.", number=number)
    return _("{number}: learned in training.", number=number)


def _explain_part(looked: Selection, panel: str, i: int, j: int, what: str) -> Arithmetic:
    """What a head adds to the chosen word's output, and which share of it that is."""
    parts, heads = looked.parts, looked.layer.heads
    if panel == head_panels.PARTS:
        rows = heads.w_output.view(looked.num_heads, heads.head_dim, -1)[i, :, j]
        own = looked.per_head[i, looked.word]
        return arithmetic.explain_dot_product(own.tolist(), rows.tolist(), parts[i, j].item(), what)
    output, share = parts.sum(dim=0), looked.shares[i].item()
    if len(looked.off) == looked.num_heads:
        return arithmetic.explain_input(
            share, what, _("{number} = 0: no head takes part.", number=what)
        )
    sizes = f"{parts[i] @ output:.4f} ÷ {output @ output:.4f}"
    rule = _("(part · output) ÷ (output · output)")
    return arithmetic.explain_input(share, what, f"{rule} = {sizes} = {share:.4f}")


def _explain_vote(
    looked: Selection, known: TrainedHeads, panel: str, i: int, j: int, what: str
) -> Arithmetic:
    """How strongly a word is named, and what each head adds to that."""
    place = list(looked.candidates)[j]
    if panel == head_panels.NAMED:
        output = looked.run.output if i == 0 else looked.output
        logit = known.score_words(output[looked.word])[place]
        value = logit.sigmoid().item()
        answers = _("named"), _("not named")
        return arithmetic.explain_softmax([logit.item(), 0.0], 0, value, answers)
    bias = known.bias[place].item()
    votes = (known.score_words(looked.parts) - known.bias)[:, place].tolist()
    if i < looked.num_heads:
        return _explain_head_vote(looked.parts[i], known, place, votes[i], what)
    if i == looked.num_heads:
        return arithmetic.explain_input(
            bias, what, _describe_beginning(looked, f"{what} = {bias:z.4f}")
        )
    total = known.score_words(looked.output[looked.word])[place].item()
    return arithmetic.explain_dot_product([*votes, bias], [1.0] * (len(votes) + 1), total, what)


def _explain_head_vote(
    part: Tensor, known: TrainedHeads, place: int, vote: float, what: str
) -> Arithmetic:
    """A head's vote: the part of the output that is compared with a word, times that word."""
    each = torch.eye(len(part), device=part.device)
    word = (known.score_words(each) - known.bias)[:, place]
    compared = word.nonzero()[:, 0]
    return arithmetic.explain_dot_product(
        part[compared].tolist(), word[compared].tolist(), vote, what
    )
