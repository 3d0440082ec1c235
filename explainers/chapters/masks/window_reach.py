"""Windows stacked in layers: which words can reach which, layer by layer."""

from dataclasses import replace

from torch import Tensor

from explainers.attention import masks
from explainers.attention.reach import reach, window_reach
from explainers.chapters.common.score_matrix import Lab, of_words, ticked, visible
from explainers.chapters.masks import takeaway as taken
from explainers.charts.matrix import Values
from explainers.charts.theme import LAYER_AXIS
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.figure import show_figure
from explainers.ui.figure.panels import Figure, Panel, Slider
from explainers.ui.page import Prose
from explainers.ui.predict import revealed
from explainers.ui.provenance import formula
from explainers.ui.source import show_source
from explainers.ui.untrusted_text import verbatim

NEVER = N_("never")
ASKED = 1
"""The word of the question, from 0: the running sentence's subject."""


def layers_needed(width: int, far: int) -> str:
    """After how many layers of a window the last of `far + 1` words knows of the first."""
    mask = masks.build(masks.sliding_window(width), far + 1, far + 1)
    known = reach(mask, max(far, 1))[:, -1, 0].tolist()
    return str(known.index(True) + 1) if True in known else NEVER


def show_reach(text: Prose, lab: Lab, width: int) -> None:
    """How many layers it takes from the last word to an early one, then every pair and layer."""
    tokens, last = lab.tokens, len(lab.tokens) - 1
    early = min(ASKED, max(last - 1, 0))
    answer = layers_needed(width, last - early)
    if revealed(
        text,
        "reach",
        ("1", "2", "3", NEVER),
        answer,
        width=width,
        before=width - 1,
        seen=_seen(width),
        last=verbatim(tokens[last]),
        early=verbatim(tokens[early]),
        apart=of_words(last - early),
    ):
        text("reach_seen")
        _show_layers(lab, width)
        show_source(reach, window_reach)


def _seen(width: int) -> str:
    """What a word sees in one layer, in words."""
    if width <= 2:
        return _("itself and the one before it") if width == 2 else _("only itself")
    return _("itself and the {number} before it", number=width - 1)


def _show_layers(lab: Lab, width: int) -> None:
    control, tokens, length = controls.layers, lab.tokens, len(lab.tokens)
    place, steps = control(), [int(step) for step in control.steps]
    mask = masks.build(masks.sliding_window(width), length, length)
    by_layer = reach(mask, len(steps))
    known = tuple(map(_ticks, by_layer))
    taken.layers(width, length, steps[place], by_layer)
    after = _("after the layers of the slider")
    pairs = ticked(_("who knows of whom"), after, by_layer[place], tokens)
    cone = replace(
        pairs,
        name=_("what “{word}” knows of", word=tokens[-1]),
        formula=_("a row for each number of layers"),
        values=_ticks(by_layer[:, -1]),
        rows=[f"{step}" for step in steps],
        row_axis=LAYER_AXIS,
    )
    sums = [f"{n}: {n} × ({width} − 1) + 1 = {window_reach(width, n)}" for n in steps]
    labels = [_("{sum} positions", sum=one) for one in sums]
    slider = Slider(control.label, labels, place, lambda turned: control.put(steps[turned]))
    panels = [Panel("pairs", pairs, frames=known), Panel("cone", cone)]
    alt = _("Which words can reach which after some layers, and what the last word knows of.")
    origin = formula(_("which words a mask lets through"), mask.device)
    show_figure(Figure(lab.arranged(panels), alt, slider=slider), origin, "reach")


def _ticks(reached: Tensor) -> Values:
    return visible(reached.int(), reached)
