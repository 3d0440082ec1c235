"""One score matrix under every mask, and under one of the reader's own: weights and cells left."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.attention import masks
from explainers.attention.receptive_field import cells
from explainers.attention.rules import Mask, Rule
from explainers.attention.scaled_dot_product import attention
from explainers.attention.single_head import project
from explainers.attention.steps import attention_steps, dot_products, hide, scale, softmax
from explainers.chapters.common.mask_names import name_mask
from explainers.chapters.common.one_head import OneHead, make_explainer
from explainers.chapters.common.score_matrix import (
    Lab,
    describe_cells,
    make_rules,
    make_weight_panel,
)
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.panels import Cell, Panel
from explainers.ui.text.numbers import write_percent
from explainers.ui.untrusted_text import verbatim

WINDOW = next(mask for mask in masks.MASKS if mask.name == "window")
Computed = dict[str, Tensor]


def compute_scores(layer: Layer) -> Tensor:
    """The scores that all masks begin with."""
    query, key, _unused = project(layer.x, layer.head())
    return scale(dot_products(query, key), head_dim=query.shape[-1])


def mask_weights(layer: Layer, numbers: dict[str, int]) -> Computed:
    """The scores, the weights under each mask, and what each row wins and loses by it."""
    scores, length = compute_scores(layer), len(layer.x)
    built = {name: masks.build(r, length, length) for name, r in make_rules(numbers).items()}
    weights = {name: softmax(hide(scores, mask.to(scores.device))) for name, mask in built.items()}
    moved = {f"{name} − full": each - weights["full"] for name, each in weights.items()}
    del moved["full − full"]
    return {"scores": scores, **weights, **moved}


def count_cells(numbers: Mapping[str, int], length: int) -> dict[str, int]:
    """How many cells each mask leaves of a text of `length` words."""
    return {
        mask.name: _count_mask_cells(mask, numbers.get(mask.name, mask.usual), length)
        for mask in masks.MASKS
    }


@functools.lru_cache(maxsize=256)
def _count_mask_cells(mask: Mask, number: int, length: int) -> int:
    """One mask at a time, so that a new width costs a single count."""
    return cells(masks.build(mask.of(number), length, length))


def explain_weight(lab: Lab, mask: Tensor, cell: Cell) -> Arithmetic:
    """How a weight under a mask came to be."""
    scores = hide(lab.scores, mask)[cell.row]
    weight = softmax(scores)[cell.column].item()
    return arithmetic.explain_softmax(scores.tolist(), cell.column, weight, lab.tokens)


LONG = 1024
"""Words of a long text; 2,048 would take seconds on a small machine."""


def name_costs(words: int, numbers: Mapping[str, int]) -> dict[str, str]:
    """The rows of a Markdown table, one per mask: cells of this text, and of a long one."""
    short, long = (count_cells(numbers, n) for n in (words, LONG))
    named = {mask.name: name_mask(mask, numbers.get(mask.name, mask.usual)) for mask in masks.MASKS}
    rows = [
        f"| {_(named[name])} | {short[name]} | {count:,} | {write_percent(count / LONG**2, 1)} |"
        for name, count in long.items()
    ]
    return {"rows": "\n".join(rows), "length": f"{LONG:,}"}


ASKED = 2
"""The row of the question, from 0: the running sentence's verb."""
LEAST = 0.01
"""With less to lose, a row is not worth a question."""


def ask_cells(words: int) -> tuple[str, list[str]]:
    """How many cells the causal mask leaves, and how many one might think."""
    left = cells(masks.build(masks.causal, words, words))
    options = words * (words - 1) // 2, words * (words + 1) // 2, words**2
    return f"{left}", [f"{count}" for count in options]


class LaterShare(NamedTuple):
    """What a word gives to later ones where it may, and to what its row sums where it may not."""

    word: str
    lost: str
    options: list[str]
    total: str


def measure_later_share(lab: Lab) -> LaterShare:
    """Of the third word, or of another with more to lose."""
    later = lab.weights(masks.full).triu(1).sum(dim=-1).tolist()
    row = ASKED if later[ASKED] > LEAST else later.index(max(later))
    word, lost = verbatim(lab.tokens[row]), later[row]
    total = lab.weights(masks.causal)[row].sum()
    return LaterShare(word, write_percent(lost), [f"{1 - lost:.2f}", "1.00"], f"{total:.2f}")


class Explained(NamedTuple):
    """A picture whose every number can be asked for its arithmetic."""

    panels: list[Panel]
    explain: Callable[[Cell], Arithmetic]
    alt: str


def draw_masks(lab: Lab, numbers: Mapping[str, int], shown: Computed) -> Explained:
    """The scores, and the weights under every mask of the table."""
    rules, scores = make_rules(numbers), lab.one_head.panel("scores")
    panels = [replace(scores, matrix=replace(scores.matrix, limit=None))]
    for name, rule in rules.items():
        mask = lab.mask(rule)
        panels.append(make_weight_panel(name, describe_cells(mask), shown[name], mask, lab.tokens))
    alt = _("The scores of the sentence, and its weights under every mask, side by side.")
    return Explained(lab.arranged(panels), _explain_weights(lab, rules), alt)


def draw_two_steps(lab: Lab, mask: Tensor, word: int) -> Explained:
    """The scores with −∞ where a mask forbids a pair, and their softmax; a word's row in a box."""
    run = attention_steps(*lab.views, mask.to(lab.scores.device))
    one_head = OneHead.of(lab.layer, lab.views, run)
    panels = [replace(panel, followed=word) for panel in one_head.step("weights", True)]
    alt = _("The scores after the mask, and the weights that the softmax makes of them.")
    return Explained(lab.arranged(panels), make_explainer(one_head), alt)


def list_rules() -> list[Callable[..., object]]:
    """What each mask of the table is made by, in its own lines of code."""
    rules = [mask.rule for mask in masks.MASKS]
    return [rule.allows if isinstance(rule, Rule) else rule for rule in rules]


def _explain_weights(lab: Lab, rules: dict[str, Rule]) -> Callable[[Cell], Arithmetic]:
    of_scores = make_explainer(lab.one_head)

    def explain(cell: Cell) -> Arithmetic:
        if cell.panel == "scores":
            return of_scores(cell)
        return explain_weight(lab, lab.mask(rules[cell.panel]), cell)

    return explain


EMPTIED = 2
"""The row of the example that is left with nothing."""


def compute_drawn_weights(layer: Layer, cells: list[list[bool]]) -> Computed:
    """The weights under a mask by hand, and what they are more than without a mask."""
    scores, allowed = compute_scores(layer), masks.drawn(torch.tensor(cells))
    mask = masks.build(allowed, *scores.shape).to(scores.device)
    weights = softmax(hide(scores, mask))
    return {"weights": weights, "yours − full": weights - softmax(scores)}


class Drawing(NamedTuple):
    """The reader's cells, and the weights under them.

    A mask with an `empty_row` is refused: the weights of that row are not numbers, but `share`.
    """

    cells: Tensor  # (words, words)
    shown: Computed
    empty_row: int | None = None
    share: float = 0.0

    def name_refusal(self, lab: Lab) -> dict[str, object]:
        """What the text says of the row that is empty."""
        word = lab.tokens[self.empty_row or 0]
        return {"row": self.empty_row, "word": verbatim(word), "share": self.share}


def read_drawing(lab: Lab) -> Drawing:
    """What is drawn, of which the first picture has read the link."""
    cells = torch.tensor(controls.drawn_cells.list_cells(len(lab.tokens)))
    empty = (~cells.any(dim=-1)).nonzero().flatten().tolist()
    if not empty:
        return Drawing(cells, compute_drawn_weights(lab.layer, cells.tolist()))
    weights = softmax(hide(lab.scores, cells.to(lab.scores.device)))
    return Drawing(cells, {}, empty[0], weights[empty[0], 0].item())


def warn_of_empty_row(drawing: Drawing) -> None:
    """Say which row the mask is refused for."""
    why = _(
        "Refused: the mask leaves row {row} (of {rows} queries) nothing to look at.",
        row=drawing.empty_row,
        rows=len(drawing.cells),
    )
    st.warning(why, icon=":material/block:")


def empty_a_row(lab: Lab) -> tuple[dict[str, object], str, str]:
    """The causal mask with a row emptied: which, what torch computes, what `build` says to it."""
    row = EMPTIED
    cells = lab.mask(masks.causal).clone()
    cells[row] = False
    try:
        lab.mask(masks.drawn(cells.cpu()))
    except ValueError as refused:
        run = attention(*lab.views, cells)
        weights, output = run.weights[row].tolist(), run.output[row].tolist()
        printed = f"weights[{row}] = {weights}\noutput[{row}]  = {output}"
        return {"row": row, "word": verbatim(lab.tokens[row])}, printed, str(refused)
    raise AssertionError("a mask with an empty row was not refused")
