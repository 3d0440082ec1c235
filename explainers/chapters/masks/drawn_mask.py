"""A mask of the reader's own, and what becomes of a query that may look at nothing."""

import streamlit as st
import torch

from explainers.arithmetic import Arithmetic
from explainers.attention import masks
from explainers.attention.scaled_dot_product import attention
from explainers.attention.steps import hide, softmax
from explainers.chapters.common.score_matrix import Lab, of_words, ticked, weight_panel
from explainers.chapters.masks import takeaway as taken
from explainers.chapters.masks.masks_compared import change, share
from explainers.charts.matrix import make_pair_matrix
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.mask_drawing import CAUSAL, FULL
from explainers.ui.figure.clickable_figure import show_clickable
from explainers.ui.figure.panels import Cell, Panel, oriented
from explainers.ui.page import Prose
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import take
from explainers.ui.untrusted_text import verbatim

DRAWN = "your mask"
EMPTIED = 2
"""The row of the example that is left with nothing."""


def show_drawing(text: Prose, lab: Lab) -> None:
    """Click cells on and off; a row without any is refused by its name."""
    text("draw")
    control, side = controls.drawn_cells, len(lab.tokens)
    cells = torch.tensor(control(side))
    if control.count_words(side) != side:
        text("drawn_for_another", drawn=of_words(control.count_words(side)), words=side)
    with st.container(horizontal=True):
        for start in (FULL, CAUSAL):
            label = _("Start from {mask}", mask=_(start))
            st.button(label, on_click=control.put, args=(start,))
    left = _("click a cell: {left} of {all} set", left=cells.sum(), all=cells.numel())
    drawing = ticked(_("your mask"), left, cells, lab.tokens)
    panels = oriented([Panel(DRAWN, drawing)], lab.queries_down)  # never too small to be clicked
    try:
        mask = lab.mask(masks.drawn(cells))
    except ValueError:
        take("by hand")
        row = int((~cells.any(dim=-1)).nonzero()[0])
        why = _(
            "Refused: the mask leaves row {row} (of {rows} queries) nothing to look at.",
            row=row,
            rows=side,
        )
        st.warning(why, icon=":material/block:")
        weight = softmax(hide(lab.scores, cells.to(lab.scores.device)))[row, 0]
        text("refused", row=row, word=verbatim(lab.tokens[row]), share=weight.item())
    else:
        weights = softmax(hide(lab.scores, mask))
        moved = weights - lab.weights(masks.full)
        taken.by_hand(lab, cells.tolist(), {"weights": weights, "yours − full": moved})
        rule = N_("every row sums to 0")
        lost = make_pair_matrix(_("yours − full"), rule, moved.tolist(), lab.tokens)
        made = weight_panel("weights", _("under your mask"), weights, mask, lab.tokens)
        panels += lab.arranged([made, Panel("yours − full", lost)])

    def turn(cell: Cell) -> None:
        control.toggle_cell(side, cell.row, cell.column)

    def explain(cell: Cell) -> Arithmetic:
        made_of = share if cell.panel == "weights" else change
        return made_of(lab, cells.to(lab.scores.device), cell)

    alt = _("Your mask, whose cells can be clicked on and off, and the weights under it.")
    show_clickable(panels, explain, lab.origin, "drawing", alt, acts={DRAWN: turn})


def show_empty_row(text: Prose, lab: Lab) -> None:
    """The causal mask with one row emptied: what torch computes, and what `build` says."""
    row = EMPTIED
    cells = lab.mask(masks.causal).clone()
    cells[row] = False
    text("empty_row", word=verbatim(lab.tokens[row]), row=row)
    run = attention(*lab.views, cells)
    printed = (
        f"weights[{row}] = {run.weights[row].tolist()}\noutput[{row}]  = {run.output[row].tolist()}"
    )
    st.code(printed, wrap_lines=True)
    try:
        lab.mask(masks.drawn(cells.cpu()))
    except ValueError as refused:
        text("empty_row_refused", said=refused)
    show_source(masks.build)
