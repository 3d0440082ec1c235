"""One score matrix under every mask: weights, what each row loses and wins, cells left."""

import functools
from collections.abc import Callable
from dataclasses import replace

from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.attention import masks
from explainers.attention.masks import Rule
from explainers.attention.reach import cells
from explainers.attention.steps import hide, softmax
from explainers.chapters.common.one_head import arithmetic_of
from explainers.chapters.common.score_matrix import Lab, cells_left, of_words, rules_of, visible
from explainers.charts.matrix import Values, make_pair_matrix, share_domain
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.clickable_figure import explore, show_clickable
from explainers.ui.figure.panels import Cell, Panel, Slider
from explainers.ui.page import Prose
from explainers.ui.predict import revealed
from explainers.ui.source import show_source
from explainers.ui.untrusted_text import verbatim


def share(lab: Lab, mask: Tensor, cell: Cell) -> Arithmetic:
    """How a weight under a mask came to be."""
    scores = hide(lab.scores, mask)[cell.row]
    weight = softmax(scores)[cell.column].item()
    return arithmetic.explain_softmax(scores.tolist(), cell.column, weight, lab.tokens)


def change(lab: Lab, mask: Tensor, cell: Cell) -> Arithmetic:
    """How much of a word's attention another one won or lost by a mask."""
    weights = softmax(hide(lab.scores, mask)), lab.run.weights
    new, full = (shares[cell.row, cell.column].item() for shares in weights)
    return arithmetic.explain_addition(new, -full, new - full, _("new − full"))


LONG = 1024
"""Words of a long text; 2,048 would take seconds on a small machine."""


def left(width: int, prefix: int, length: int) -> dict[str, int]:
    """How many cells each mask leaves of a text of `length` words."""
    sizes = {"full": 0, "causal": 0, "window": width, "prefix": prefix}
    return {name: _left(name, size, length) for name, size in sizes.items()}


@functools.lru_cache(maxsize=256)
def _left(name: str, size: int, length: int) -> int:
    """One mask at a time, so that a new width costs a single count."""
    return cells(masks.build(rules_of(size, size)[name], length, length))


def show_costs(text: Prose, words: int, width: int, prefix: int) -> None:
    """A table: a row per mask."""
    short, long = (left(width, prefix, n) for n in (words, LONG))
    named = {
        "full": _("full"),
        "causal": _("causal"),
        "window": _("window of {width}", width=width),
        "prefix": _("prefix of {length}", length=prefix),
    }
    rows = [
        f"| {named[name]} | {short[name]} | {count:,} | {count / LONG**2:.1%} |"
        for name, count in long.items()
    ]
    text("costs", words=words, length=f"{LONG:,}", rows="\n".join(rows))


ASKED = 2
"""The row of the question, from 0: the running sentence's verb."""
LEAST = 0.01
"""With less to lose, a row is not worth a question."""


def foretold(text: Prose, lab: Lab) -> bool:
    """Two questions before any picture, because the first picture answers both."""
    words = len(lab.tokens)
    options = tuple(f"{n}" for n in (words * (words - 1) // 2, words * (words + 1) // 2, words**2))
    left = f"{cells(lab.mask(masks.causal))}"
    knows_cells = revealed(text, "cells", options, left, words=words, pairs=words**2)
    row, lost = _asked(lab)
    word, answer = verbatim(lab.tokens[row]), f"{lab.weights(masks.causal)[row].sum():.2f}"
    options = f"{1 - lost:.2f}", "1.00"
    return revealed(text, "moved", options, answer, word=word, lost=f"{lost:.0%}") and knows_cells


def _asked(lab: Lab) -> tuple[int, float]:
    """The row of the question, and what it gives to later words if it may."""
    later = lab.weights(masks.full).triu(1).sum(dim=-1).tolist()
    row = ASKED if later[ASKED] > LEAST else later.index(max(later))
    return row, later[row]


def show_masks(text: Prose, lab: Lab, width: int, prefix: int) -> None:
    """The scores and four masks; the window's width is dragged in the browser."""
    words, rules = len(lab.tokens), rules_of(width, prefix)
    if width > words:
        text("too_wide", width=width, words=of_words(words))
    scores = lab.one_head.panel("scores")
    panels = [replace(scores, matrix=replace(scores.matrix, limit=None))]
    panels += [lab.drawn(name, rule) for name, rule in rules.items()]
    windows = [masks.sliding_window(n + 1) for n in range(words)]
    frames = tuple(visible(lab.weights(rule), lab.mask(rule)) for rule in windows)
    labels = [f"{n + 1}: {cells_left(lab.mask(rule))}" for n, rule in enumerate(windows)]
    panels = [_sliding(p, frames) if p.id == "window" else p for p in panels]
    control, place = controls.window, min(width, words) - 1
    slider = Slider(control.label, labels, place, lambda turned: control.put(turned + 1))
    alt = _("The scores of the sentence, and its weights under four masks, side by side.")
    panels = lab.arranged(panels)
    explore(panels, _working(lab, rules), lab.origin, "masks", alt, slider=slider, first="causal")
    show_source(hide, softmax)


def _sliding(panel: Panel, frames: tuple[Values, ...]) -> Panel:
    """The number of cells stands at the slider, which the browser moves."""
    matrix = replace(panel.matrix, formula=_("itself and those just before it"))
    return replace(panel, matrix=matrix, frames=frames)


def _working(lab: Lab, rules: dict[str, Rule]) -> Callable[[Cell], Arithmetic]:
    of_scores = arithmetic_of(lab.one_head)

    def explain(cell: Cell) -> Arithmetic:
        if cell.panel == "scores":
            return of_scores(cell)
        return share(lab, lab.mask(rules[cell.panel]), cell)

    return explain


def show_moved(text: Prose, lab: Lab, width: int, prefix: int) -> None:
    """Weights under each mask less the weights without one: what a row lost, and who got it."""
    row, lost = _asked(lab)
    text("moved", word=verbatim(lab.tokens[row]), lost=f"{lost:.0%}")
    full = lab.weights(masks.full)
    rules = {f"{name} − full": rule for name, rule in rules_of(width, prefix).items()}
    del rules["full − full"]
    names = _("causal − full"), _("window − full"), _("prefix − full")
    formula = N_("every row sums to 0")
    matrices = share_domain(
        *(
            make_pair_matrix(name, formula, (lab.weights(rule) - full).tolist(), lab.tokens)
            for name, rule in zip(names, rules.values(), strict=True)
        )
    )
    panels = lab.arranged([Panel(*each) for each in zip(rules, matrices, strict=True)])
    alt = _("What every weight won or lost under three masks, compared with full attention.")

    def explain(cell: Cell) -> Arithmetic:
        return change(lab, lab.mask(rules[cell.panel]), cell)

    show_clickable(panels, explain, lab.origin, "moved", alt)
    text("moved_seen")
