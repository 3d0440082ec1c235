"""A mask of the reader's own, and what becomes of a query that may look at nothing."""

from typing import NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.scaled_dot_product import attention
from explainers.attention.steps import hide, softmax
from explainers.chapters.common.score_matrix import Lab
from explainers.chapters.masks.masks_compared import Computed, compute_scores
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.untrusted_text import verbatim

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
