"""One score matrix under every mask, and under one of the reader's own."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.attention import masks
from explainers.attention.rules import Rule
from explainers.attention.single_head import project
from explainers.attention.steps import attention_steps, dot_products, hide, scale, softmax
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
from explainers.ui.figure.panels import Cell, Panel, orient_panels
from explainers.ui.takeaway_files import hand_over, take

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


def explain_weight(lab: Lab, mask: Tensor, cell: Cell) -> Arithmetic:
    """How a weight under a mask came to be."""
    scores = hide(lab.scores, mask)[cell.row]
    weight = softmax(scores)[cell.column].item()
    return arithmetic.explain_softmax(scores.tolist(), cell.column, weight, lab.tokens)


class Explained(NamedTuple):
    """A picture whose every number can be asked for its arithmetic."""

    panels: list[Panel]
    explain: Callable[[Cell], Arithmetic]
    alt: str


def draw_masks(lab: Lab, numbers: Mapping[str, int], shown: Computed) -> Explained:
    """The scores, and the weights under every mask of the table."""
    rules, scores = make_rules(numbers), lab.one_head.panel("scores")
    panels = [replace(scores, matrix=replace(scores.matrix, limit=None), small=True)]
    for name, rule in rules.items():
        mask = lab.mask(rule)
        panel = make_weight_panel(name, describe_cells(mask), shown[name], mask, lab.tokens)
        panels.append(replace(panel, small=True))
    alt = _("The scores of the sentence, and its weights under every mask, side by side.")
    return Explained(orient_panels(panels, lab.queries_down), _explain_weights(lab, rules), alt)


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


def compute_drawn_weights(layer: Layer, cells: list[list[bool]]) -> Computed:
    """The weights under a mask by hand, and what they are more than without a mask."""
    scores, allowed = compute_scores(layer), masks.drawn(torch.tensor(cells))
    mask = masks.build(allowed, *scores.shape).to(scores.device)
    weights = softmax(hide(scores, mask))
    return {"weights": weights, "yours − full": weights - softmax(scores)}


class Drawing(NamedTuple):
    """The reader's cells. A mask with an `empty_row` is refused: its weights are not numbers."""

    cells: Tensor  # (words, words)
    empty_row: int | None = None


def read_drawing(words: int) -> Drawing:
    """What is drawn, of which the first picture has read the link."""
    cells = torch.tensor(controls.drawn_cells.list_cells(words))
    empty = (~cells.any(dim=-1)).nonzero().flatten().tolist()
    return Drawing(cells, *empty[:1])


def warn_of_empty_row(drawing: Drawing) -> None:
    """Say which row the mask is refused for."""
    why = _(
        "Refused: the mask leaves row {row} (of {rows} queries) nothing to look at.",
        row=drawing.empty_row,
        rows=len(drawing.cells),
    )
    st.warning(why, icon=":material/block:")


def take_first(lab: Lab, numbers: dict[str, int], drawing: Drawing | None) -> None:
    """What the page opens with: one matrix under all masks, or under one that is drawn."""
    if drawing is None:
        inputs: dict[str, Any] = {"layer": lab.layer, "numbers": numbers}
        hand_over("side by side", _("One matrix, many masks"), mask_weights, **inputs)
    elif drawing.empty_row is None:
        cells = drawing.cells.tolist()
        hand_over("by hand", _("Your mask"), compute_drawn_weights, layer=lab.layer, cells=cells)
    else:
        take("by hand")
