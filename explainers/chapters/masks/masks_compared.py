"""One score matrix under every mask: weights, what each row loses and wins, cells left."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.attention import masks
from explainers.attention.rules import Rule
from explainers.attention.steps import hide, softmax
from explainers.chapters.common.mask_names import name_mask
from explainers.chapters.common.one_head import arithmetic_of
from explainers.chapters.common.score_matrix import (
    Lab,
    describe_cells,
    keep_allowed,
    rules_of,
    weight_panel,
)
from explainers.chapters.masks.masked_weights import Computed, count_cells
from explainers.charts.matrix import Values, make_pair_matrix, share_domain
from explainers.messages import N_
from explainers.toys.sentence import MAX_TOKENS
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.number_controls import BrowserSlider, Counter
from explainers.ui.figure.panels import Cell, Panel, Slider
from explainers.ui.untrusted_text import verbatim

WINDOW = next(mask for mask in masks.MASKS if mask.name == "window")
COUNTED = {
    mask.name: Counter(mask.name, mask.parameter, mask.usual)
    for mask in masks.MASKS
    if mask.parameter and mask is not WINDOW
}
DRAGGED = BrowserSlider(
    WINDOW.name, WINDOW.parameter, WINDOW.usual, tuple(range(WINDOW.least, MAX_TOKENS + 1))
)
controls.register(DRAGGED, *COUNTED.values())


def choose_numbers(words: int) -> dict[str, int]:
    """Each mask's number, by the mask's name; no more than there are words but for the window."""
    least = {mask.name: mask.least for mask in masks.MASKS}
    chosen = {name: control(least[name], words) for name, control in COUNTED.items()}
    return chosen | {WINDOW.name: DRAGGED() + WINDOW.least}


def explain_weight(lab: Lab, mask: Tensor, cell: Cell) -> Arithmetic:
    """How a weight under a mask came to be."""
    scores = hide(lab.scores, mask)[cell.row]
    weight = softmax(scores)[cell.column].item()
    return arithmetic.explain_softmax(scores.tolist(), cell.column, weight, lab.tokens)


def explain_change(lab: Lab, mask: Tensor, cell: Cell) -> Arithmetic:
    """How much of a word's attention another one won or lost by a mask."""
    weights = softmax(hide(lab.scores, mask)), lab.run.weights
    new, full = (shares[cell.row, cell.column].item() for shares in weights)
    return arithmetic.explain_addition(new, -full, new - full, _("new − full"))


LONG = 1024
"""Words of a long text; 2,048 would take seconds on a small machine."""


def cost_rows(words: int, numbers: Mapping[str, int]) -> str:
    """The rows of a Markdown table, one per mask: cells of this text, and of a long one."""
    short, long = (count_cells(numbers, n) for n in (words, LONG))
    named = {mask.name: name_mask(mask, numbers.get(mask.name, mask.usual)) for mask in masks.MASKS}
    rows = [
        f"| {_(named[name])} | {short[name]} | {count:,} | {count / LONG**2:.1%} |"
        for name, count in long.items()
    ]
    return "\n".join(rows)


ASKED = 2
"""The row of the question, from 0: the running sentence's verb."""
LEAST = 0.01
"""With less to lose, a row is not worth a question."""


def cell_options(words: int) -> list[str]:
    """How many cells one might think that the causal mask leaves."""
    return [f"{n}" for n in (words * (words - 1) // 2, words * (words + 1) // 2, words**2)]


class LaterShare(NamedTuple):
    """What a word gives to later ones where it may, and to what its row sums where it may not."""

    word: str
    lost: str
    options: list[str]
    total: str


def later_share(lab: Lab) -> LaterShare:
    """Of the third word, or of another with more to lose."""
    later = lab.weights(masks.full).triu(1).sum(dim=-1).tolist()
    row = ASKED if later[ASKED] > LEAST else later.index(max(later))
    word, lost = verbatim(lab.tokens[row]), later[row]
    total = lab.weights(masks.causal)[row].sum()
    return LaterShare(word, f"{lost:.0%}", [f"{1 - lost:.2f}", "1.00"], f"{total:.2f}")


class Explained(NamedTuple):
    """A picture whose every number can be asked for its arithmetic."""

    panels: list[Panel]
    explain: Callable[[Cell], Arithmetic]
    alt: str


def draw_masks(lab: Lab, numbers: Mapping[str, int], shown: Computed) -> tuple[Explained, Slider]:
    """The scores and every mask; the window's width is dragged in the browser."""
    words, rules, width = len(lab.tokens), rules_of(numbers), numbers[WINDOW.name]
    scores = lab.one_head.panel("scores")
    panels = [replace(scores, matrix=replace(scores.matrix, limit=None))]
    for name, rule in rules.items():
        mask = lab.mask(rule)
        panels.append(weight_panel(name, describe_cells(mask), shown[name], mask, lab.tokens))
    windows = [WINDOW.of(n + 1) for n in range(words)]
    frames = tuple(keep_allowed(lab.weights(rule), lab.mask(rule)) for rule in windows)
    labels = [f"{n + 1}: {describe_cells(lab.mask(rule))}" for n, rule in enumerate(windows)]
    panels = [_sliding(p, frames) if p.id == WINDOW.name else p for p in panels]
    place = min(width, words) - 1
    slider = Slider(DRAGGED.label, labels, place, lambda turned: DRAGGED.put(turned + 1))
    alt = _("The scores of the sentence, and its weights under every mask, side by side.")
    return Explained(lab.arranged(panels), _explain_weights(lab, rules), alt), slider


def _sliding(panel: Panel, frames: tuple[Values, ...]) -> Panel:
    """The number of cells stands at the slider, which the browser moves."""
    matrix = replace(panel.matrix, formula=_("itself and those just before it"))
    return replace(panel, matrix=matrix, frames=frames)


def _explain_weights(lab: Lab, rules: dict[str, Rule]) -> Callable[[Cell], Arithmetic]:
    of_scores = arithmetic_of(lab.one_head)

    def explain(cell: Cell) -> Arithmetic:
        if cell.panel == "scores":
            return of_scores(cell)
        return explain_weight(lab, lab.mask(rules[cell.panel]), cell)

    return explain


def draw_moved(lab: Lab, numbers: Mapping[str, int], shown: Computed) -> Explained:
    """Weights under each mask less the weights without one: what a row lost, and who got it."""
    others = {name: rule for name, rule in rules_of(numbers).items() if rule is not masks.full}
    rules = {f"{name} − full": rule for name, rule in others.items()}
    formula = N_("every row sums to 0")
    titles = [_("{mask} − full", mask=_(name)) for name in others]
    matrices = share_domain(
        *(
            make_pair_matrix(title, formula, shown[name].tolist(), lab.tokens)
            for title, name in zip(titles, rules, strict=True)
        )
    )
    panels = lab.arranged([Panel(*each) for each in zip(rules, matrices, strict=True)])
    alt = _("What every weight won or lost under every other mask, compared with full attention.")

    def explain(cell: Cell) -> Arithmetic:
        return explain_change(lab, lab.mask(rules[cell.panel]), cell)

    return Explained(panels, explain, alt)
