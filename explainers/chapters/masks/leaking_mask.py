"""−∞ before the softmax, or 0 after it: what earlier words learn of a later one."""

from dataclasses import replace

from torch import Tensor

from explainers.attention import masks
from explainers.attention.leak import masked_after, masked_before
from explainers.chapters.common.score_matrix import Lab, rows_moved, visible, weight_panel
from explainers.chapters.masks import takeaway as taken
from explainers.charts.matrix import Matrix, make_pair_matrix, share_domain
from explainers.translations import _
from explainers.ui.figure.figure import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.predict import revealed
from explainers.ui.source import show_source
from explainers.ui.untrusted_text import verbatim

NEW_WORDS = "Monday", "Sunday"
ROUNDING = 1e-6
"""Of shares of 1: a sharp head's real changes are small, and its rounding is smaller still."""
WAYS = {"0 after": masked_after, "−∞ before": masked_before}


def show_leak(text: Prose, lab: Lab) -> None:
    """Both ways on the sentence, and how the weights move when the last word is another one."""
    mask, tokens = lab.mask(masks.causal), lab.tokens
    new = next(word for word in NEW_WORDS if word.casefold() != tokens[-1].casefold())
    changed = lab.reading((*tokens[:-1], new)).scores
    weights = {name: way(lab.scores, mask) for name, way in WAYS.items()}
    moved = {name: way(changed, mask) - weights[name] for name, way in WAYS.items()}
    after, before = (rows_moved(change[:-1], ROUNDING) for change in moved.values())
    last, earlier = verbatim(tokens[-1]), len(tokens) - 1
    text("leak", last=last, new=verbatim(new), earlier=earlier)
    options = ("0", "1", f"{earlier}")
    if revealed(text, "leak", options, f"{after}", last=last, earlier=earlier, kept=before):
        panels = []
        ways = {"0 after": _("0 after"), "−∞ before": _("−∞ before")}
        changes = share_domain(
            *(
                _change(_("{way}: new − old", way=way), moved[name], lab, mask)
                for name, way in ways.items()
            )
        )
        for (name, shares), change in zip(weights.items(), changes, strict=True):
            sums = _("the first row sums to {total:.2f}", total=shares[0].sum())
            made = weight_panel(name, sums, shares, mask, tokens)
            heading = _("{way} the softmax", way=ways[name])
            matrix = replace(made.matrix, name=ways[name])
            panels += [
                replace(made, matrix=matrix, heading=heading),
                Panel(f"{name}: new − old", change),
            ]
        shown = {f"{name}: new − old": 100 * m[:-1, :-1] for name, m in moved.items()}
        taken.leak(lab, (*tokens[:-1], new), weights | shown)
        alt = _("Causal weights made in two ways, and how each moves when the last word is new.")
        show_figure(Figure(lab.arranged(panels), alt), lab.origin, "leak")
        moves = moved["0 after"][:-1].abs().amax(dim=-1)
        least = verbatim(tokens[int(moves.argmin())])
        text("leak_seen", least=least, by=_percent(moves.min().item()))
        show_source(*WAYS.values())


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
