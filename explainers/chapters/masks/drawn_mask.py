"""A mask of the reader's own, and what becomes of a query that may look at nothing."""

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers.arithmetic import Arithmetic
from explainers.attention import masks
from explainers.attention.scaled_dot_product import attention
from explainers.attention.steps import hide, softmax
from explainers.chapters.common.score_matrix import Lab, make_tick_matrix, weight_panel
from explainers.chapters.masks.masked_weights import Computed, compute_drawn_weights
from explainers.chapters.masks.masks_compared import Explained, explain_change, explain_weight
from explainers.charts.matrix import make_pair_matrix
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.mask_drawing import CAUSAL, FULL
from explainers.ui.figure.panels import Cell, Panel, orient_panels

DRAWN = "your mask"
EMPTIED = 2
"""The row of the example that is left with nothing."""


class Drawing(NamedTuple):
    """The reader's cells, and the weights under them.

    A mask with an `empty_row` is refused: the weights of that row are not numbers, but `share`.
    """

    cells: Tensor  # (words, words)
    shown: Computed
    empty_row: int | None = None
    share: float = 0.0


def read_drawing(lab: Lab) -> Drawing:
    """What the link says is drawn."""
    cells = torch.tensor(controls.drawn_cells(len(lab.tokens)))
    empty = (~cells.any(dim=-1)).nonzero().flatten().tolist()
    if not empty:
        return Drawing(cells, compute_drawn_weights(lab.layer, cells.tolist()))
    weights = softmax(hide(lab.scores, cells.to(lab.scores.device)))
    return Drawing(cells, {}, empty[0], weights[empty[0], 0].item())


def offer_starts() -> None:
    """Two buttons: everything is allowed again, or the past."""
    with st.container(horizontal=True):
        for start in (FULL, CAUSAL):
            label = _("Start from {mask}", mask=_(start))
            st.button(label, on_click=controls.drawn_cells.put, args=(start,))


def warn_of_empty_row(drawing: Drawing) -> None:
    """Say which row the mask is refused for."""
    why = _(
        "Refused: the mask leaves row {row} (of {rows} queries) nothing to look at.",
        row=drawing.empty_row,
        rows=len(drawing.cells),
    )
    st.warning(why, icon=":material/block:")


def draw_drawing(lab: Lab, drawing: Drawing) -> Explained:
    """The cells, and beside them the weights and what has changed, unless the mask is refused."""
    cells, shown = drawing.cells, drawing.shown
    left = _("click a cell: {left} of {all} set", left=cells.sum(), all=cells.numel())
    drawn = make_tick_matrix(_("your mask"), left, cells, lab.tokens)
    panels = orient_panels([Panel(DRAWN, drawn)], lab.queries_down)  # never too small to be clicked
    if shown:
        rule, moved = N_("every row sums to 0"), shown["yours − full"].tolist()
        lost = make_pair_matrix(_("yours − full"), rule, moved, lab.tokens)
        made = weight_panel("weights", _("under your mask"), shown["weights"], cells, lab.tokens)
        panels += lab.arranged([made, Panel("yours − full", lost)])

    def explain(cell: Cell) -> Arithmetic:
        made_of = explain_weight if cell.panel == "weights" else explain_change
        return made_of(lab, cells.to(lab.scores.device), cell)

    alt = _("Your mask, whose cells can be clicked on and off, and the weights under it.")
    return Explained(panels, explain, alt)


def list_clicks(words: int) -> dict[str, Callable[[Cell], None]]:
    """What a click on a cell of the mask does: forbid the pair, or allow it again."""

    def turn(cell: Cell) -> None:
        controls.drawn_cells.toggle_cell(words, cell.row, cell.column)

    return {DRAWN: turn}


def empty_a_row(lab: Lab) -> tuple[int, str, str]:
    """The causal mask with a row emptied: which, what torch computes, what `build` says to it."""
    row = EMPTIED
    cells = lab.mask(masks.causal).clone()
    cells[row] = False
    try:
        lab.mask(masks.drawn(cells.cpu()))
    except ValueError as refused:
        run = attention(*lab.views, cells)
        weights, output = run.weights[row].tolist(), run.output[row].tolist()
        return row, f"weights[{row}] = {weights}\noutput[{row}]  = {output}", str(refused)
    raise AssertionError("a mask with an empty row was not refused")
