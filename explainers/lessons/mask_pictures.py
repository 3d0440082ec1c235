"""Masks side by side, and what each row loses and wins under them."""

from collections.abc import Callable
from dataclasses import replace

from explainers import working
from explainers.attention import masks
from explainers.attention.masks import Rule
from explainers.attention.steps import hide, softmax
from explainers.charts.matrix import Values, sharing_colours
from explainers.lessons.arithmetic import arithmetic_of
from explainers.lessons.mask_lab import Lab, counted, pairs, rules_of, visible
from explainers.ui import controls
from explainers.ui.figure import show_figure
from explainers.ui.numbers import explore
from explainers.ui.panels import Cell, Figure, Panel, Slider, oriented
from explainers.ui.plain import verbatim
from explainers.ui.predict import revealed
from explainers.ui.prose import Prose
from explainers.ui.source import show_source
from explainers.working import Working

ASKED = 2
"""The row of the question, from 0: the running sentence's verb."""


def show_masks(text: Prose, lab: Lab, width: int, prefix: int) -> None:
    """The scores and four masks; the window's width is dragged in the browser."""
    words, rules = len(lab.tokens), rules_of(width, prefix)
    options = tuple(f"{n}" for n in (words * (words - 1) // 2, words * (words + 1) // 2, words**2))
    left = counted(lab.mask(masks.causal)).split()[0]
    if not revealed(text, "cells", options, left, words=words, pairs=words**2):
        return
    text("masks_seen", prefix=prefix)
    if width > words:
        text("too_wide", width=width, words=words)
    scores = lab.one_head.panel("scores")
    panels = [replace(scores, matrix=replace(scores.matrix, limit=None))]
    panels += [lab.drawn(name, rule) for name, rule in rules.items()]
    windows = [masks.sliding_window(n + 1) for n in range(words)]
    frames = tuple(visible(lab.weights(rule), lab.mask(rule)) for rule in windows)
    labels = [f"{n + 1}: {counted(lab.mask(rule))} cells" for n, rule in enumerate(windows)]
    panels = [_sliding(p, frames) if p.id == "window" else p for p in panels]
    control, place = controls.window, min(width, words) - 1
    slider = Slider(control.label, labels, place, lambda turned: control.put(turned + 1))
    alt = "The scores of the sentence, and its weights under four masks, side by side."
    panels = oriented(panels, lab.queries_down)
    explore(panels, _working(lab, rules), lab.origin, "masks", alt, slider=slider, first="causal")
    show_source(hide, softmax)


def _sliding(panel: Panel, frames: tuple[Values, ...]) -> Panel:
    """The number of cells stands at the slider, which the browser moves."""
    matrix = replace(panel.matrix, formula="itself and those just before it")
    return replace(panel, matrix=matrix, frames=frames)


def _working(lab: Lab, rules: dict[str, Rule]) -> Callable[[Cell], Working]:
    of_scores = arithmetic_of(lab.one_head)

    def explain(cell: Cell) -> Working:
        if cell.panel == "scores":
            return of_scores(cell)
        row = hide(lab.scores, lab.mask(rules[cell.panel]))[cell.row]
        weight = softmax(row)[cell.column].item()
        return working.softmax(row.tolist(), cell.column, weight, lab.tokens)

    return explain


def show_moved(text: Prose, lab: Lab, width: int, prefix: int) -> None:
    """Weights under each mask less the weights without one: what a row lost, and who got it."""
    row = min(ASKED, len(lab.tokens) - 1)
    full, causal = lab.weights(masks.full), lab.weights(masks.causal)
    lost = full[row, row + 1 :].sum().item()
    word = verbatim(lab.tokens[row])
    text("moved", word=word, lost=f"{lost:.0%}")
    options, answer = (f"{1 - lost:.2f}", "1.00"), f"{causal[row].sum():.2f}"
    if not revealed(text, "moved", options, answer, word=word):
        return
    changes = {name: lab.weights(rule) - full for name, rule in rules_of(width, prefix).items()}
    matrices = sharing_colours(
        *(
            pairs(f"{name} − full", "every row sums to 0", change.tolist(), lab.tokens)
            for name, change in changes.items()
            if name != "full"
        )
    )
    panels = oriented([Panel(m.name, m) for m in matrices], lab.queries_down)
    alt = "What every weight won or lost under three masks, compared with full attention."
    show_figure(Figure(panels, alt), lab.origin, "moved")
    text("moved_seen")
