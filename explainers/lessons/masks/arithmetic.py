"""The arithmetic of a weight under a mask, and of what the mask changed."""

from torch import Tensor

from explainers import working
from explainers.attention.steps import hide, softmax
from explainers.lessons.mask_lab import Lab
from explainers.ui.language import said
from explainers.ui.panels import Cell
from explainers.working import Working


def share(lab: Lab, mask: Tensor, cell: Cell) -> Working:
    """How a weight under a mask came to be."""
    scores = hide(lab.scores, mask)[cell.row]
    weight = softmax(scores)[cell.column].item()
    return working.softmax(scores.tolist(), cell.column, weight, lab.tokens)


def change(lab: Lab, mask: Tensor, cell: Cell) -> Working:
    """How much of a word's attention another one won or lost by a mask."""
    weights = softmax(hide(lab.scores, mask)), lab.run.weights
    new, full = (shares[cell.row, cell.column].item() for shares in weights)
    return working.addition(new, -full, new - full, said("new − full"))
