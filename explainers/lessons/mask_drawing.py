"""A mask of the reader's own, and what becomes of a query that may look at nothing."""

import streamlit as st
import torch

from explainers.attention import masks
from explainers.attention.scaled_dot_product import attention
from explainers.attention.steps import hide, softmax
from explainers.lessons.mask_lab import Lab, counted, pairs, ticked, weight_panel
from explainers.ui import controls
from explainers.ui.drawn import CAUSAL, FULL
from explainers.ui.figure import show_figure
from explainers.ui.panels import Cell, Figure, Panel, oriented
from explainers.ui.plain import verbatim
from explainers.ui.prose import Prose
from explainers.ui.source import show_source

EMPTIED = 2
"""The row of the example that is left with nothing."""


def show_drawing(text: Prose, lab: Lab) -> None:
    """Click cells on and off; a row without any is refused by its name."""
    text("draw")
    control, side = controls.cells, len(lab.tokens)
    cells = torch.tensor(control(side))
    if control.made_for(side) != side:
        text("drawn_for_another", drawn=control.made_for(side), words=side)
    with st.container(horizontal=True):
        for start in (CAUSAL, FULL):
            st.button(f"Start from {start}", on_click=control.put, args=(start,))
    drawing = ticked("your mask", f"click a cell: {counted(cells)} set", cells, lab.tokens)
    panels = [Panel("your mask", drawing)]
    try:
        mask = lab.mask(masks.drawn(cells))
    except ValueError as refused:
        st.warning(f"Refused: {refused}.", icon=":material/block:")
        row = int((~cells.any(dim=-1)).nonzero()[0])
        share = softmax(hide(lab.scores, cells.to(lab.scores.device)))[row, 0]
        text("refused", row=row, word=verbatim(lab.tokens[row]), share=share.item())
    else:
        weights = softmax(hide(lab.scores, mask))
        change = (weights - lab.weights(masks.full)).tolist()
        lost = pairs("yours − full", "every row sums to 0", change, lab.tokens)
        panels.append(weight_panel("weights", "under your mask", weights, mask, lab.tokens))
        panels.append(Panel(lost.name, lost))

    def turn(cell: Cell) -> None:
        control.turn(side, cell.row, cell.column)

    alt = "Your mask, whose cells can be clicked on and off, and the weights under it."
    figure = Figure(oriented(panels, lab.queries_down), alt, on_pick=turn)
    show_figure(figure, lab.origin, "drawing")


def show_empty_row(text: Prose, lab: Lab) -> None:
    """The causal mask with one row emptied: what torch computes, and what `build` says."""
    row = min(EMPTIED, len(lab.tokens) - 1)
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
