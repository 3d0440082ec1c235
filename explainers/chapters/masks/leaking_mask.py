"""−∞ before the softmax, or 0 after it: what earlier words learn of a later one."""

from dataclasses import replace
from typing import NamedTuple

from torch import Tensor

from explainers.attention import masks
from explainers.attention.leak import masked_after, masked_before
from explainers.chapters.common.score_matrix import Lab, rows_moved, visible, weight_panel
from explainers.charts.matrix import Matrix, make_pair_matrix, share_domain
from explainers.translations import _
from explainers.ui.figure.panels import Figure, Panel

NEW_WORDS = "Monday", "Sunday"
ROUNDING = 1e-6
"""Of shares of 1: a sharp head's real changes are small, and its rounding is smaller still."""
WAYS = {"0 after": masked_after, "−∞ before": masked_before}


class Leak(NamedTuple):
    """Causal weights made in both ways, and what a new last word moves in them."""

    new: str
    weights: dict[str, Tensor]  # way: (words, words)
    moved: dict[str, Tensor]  # way: (words, words), new - old

    def changed_rows(self, way: str) -> int:
        """How many of the earlier rows the new word changes."""
        return rows_moved(self.moved[way][:-1], ROUNDING)

    def pictured(self) -> dict[str, Tensor]:
        """The numbers as they stand in the picture: changes in percent, without the last word."""
        percent = {f"{way}: new − old": 100 * each[:-1, :-1] for way, each in self.moved.items()}
        return self.weights | percent

    def least_moved(self) -> tuple[int, str]:
        """The row that changes least where it should not change, and by how many percent."""
        moves = self.moved["0 after"][:-1].abs().amax(dim=-1)
        return int(moves.argmin()), _percent(moves.min().item())


def find_leak(lab: Lab) -> Leak:
    """Both ways on the sentence, and on the sentence with another last word."""
    mask, tokens = lab.mask(masks.causal), lab.tokens
    new = next(word for word in NEW_WORDS if word.casefold() != tokens[-1].casefold())
    changed = lab.reading((*tokens[:-1], new)).scores
    weights = {name: way(lab.scores, mask) for name, way in WAYS.items()}
    moved = {name: way(changed, mask) - weights[name] for name, way in WAYS.items()}
    return Leak(new, weights, moved)


def draw_leak(lab: Lab, leak: Leak) -> Figure:
    """For each way the weights, and how they move."""
    mask = lab.mask(masks.causal)
    ways = {"0 after": _("0 after"), "−∞ before": _("−∞ before")}
    changes = share_domain(
        *(
            _change(_("{way}: new − old", way=way), leak.moved[name], lab, mask)
            for name, way in ways.items()
        )
    )
    panels = []
    for (name, shares), change in zip(leak.weights.items(), changes, strict=True):
        sums = _("the first row sums to {total:.2f}", total=shares[0].sum())
        made = weight_panel(name, sums, shares, mask, lab.tokens)
        heading = _("{way} the softmax", way=ways[name])
        matrix = replace(made.matrix, name=ways[name])
        panels += [
            replace(made, matrix=matrix, heading=heading),
            Panel(f"{name}: new − old", change),
        ]
    alt = _("Causal weights made in two ways, and how each moves when the last word is new.")
    return Figure(lab.arranged(panels), alt)


def _percent(share: float) -> str:
    """As in the picture, or with more digits where the picture shows 0.00."""
    percent = 100 * share
    shown = (f"{percent:.{places}f}" for places in (2, 4))
    return next((digits for digits in shown if float(digits)), _("less than 0.0001"))


def _change(name: str, change: Tensor, lab: Lab, mask: Tensor) -> Matrix:
    """In percent, because a change may be too small for two digits of a weight."""
    formula = _(
        "in percent: {rows} of {earlier} earlier rows change",
        rows=rows_moved(change[:-1], ROUNDING),
        earlier=len(lab.tokens) - 1,
    )
    # The last word is not the same in both.
    earlier = visible(100 * change[:-1, :-1], mask[:-1, :-1])
    return make_pair_matrix(name, formula, earlier, lab.tokens[:-1])
