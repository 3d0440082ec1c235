"""The weights at every temperature, computed on the server and leafed through in the browser."""

import math
from dataclasses import replace

from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.attention.scaling import with_temperature
from explainers.chapters.common.one_head import OneHead
from explainers.charts.matrix import Values, blank_forbidden
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.clickable_figure import show_clickable_figure
from explainers.ui.figure.panels import Cell, Panel, Slider, orient_panels
from explainers.ui.source import show_source


def show_temperatures(
    one_head: OneHead, products: Tensor, queries_down: bool, origin: str
) -> float:
    """Softmax(QKᵀ ÷ temperature) beside attention's own weights; they meet where it is √d_k.

    Returns the temperature that was chosen.
    """
    control, root = controls.temperature, round(math.sqrt(one_head.head_dim), 4)
    steps = sorted({*control.steps, root})
    place = control(steps)
    own = replace(one_head.panel("weights"), sources=())
    frames = tuple(_unmasked(with_temperature(products, step), own) for step in steps)
    warm = replace(own, id="warm", matrix=replace(own.matrix, values=frames[place]), frames=frames)
    panels = [
        _named(warm, _("at this temperature"), _("softmax(Q · Kᵀ ÷ temperature)")),
        _named(own, "attention", "softmax(Q · Kᵀ ÷ √d_k)"),
    ]
    labels = [f"{step:.3g}" + (" = √d_k" if step == root else "") for step in steps]
    slider = Slider(control.label, labels, place, lambda turned: control.put(steps[turned]))
    alt = _("Two tables of weights: at the temperature of the slider, and attention's own.")
    dividers = {"warm": steps[place], "weights": math.sqrt(one_head.head_dim)}

    def explain(cell: Cell) -> Arithmetic:
        row = [product / dividers[cell.panel] for product in products[cell.row].tolist()]
        shown = next(panel for panel in panels if panel.id == cell.panel).matrix.values
        value = shown[cell.row][cell.column] or 0.0  # a blank one is exactly 0
        return arithmetic.explain_softmax(row, cell.column, value, one_head.tokens)

    show_clickable_figure(
        orient_panels(panels, queries_down), explain, origin, "temperature", alt, slider
    )
    show_source(with_temperature)
    return steps[place]


def _named(panel: Panel, name: str, formula: str) -> Panel:
    return replace(panel, matrix=replace(panel.matrix, name=name, formula=formula))


def _unmasked(weights: Tensor, like: Panel) -> Values:
    """The weights as numbers, blank where the picture they stand beside is blank."""
    allowed = [[value is not None for value in row] for row in like.matrix.values]
    return blank_forbidden(weights.tolist(), allowed)
