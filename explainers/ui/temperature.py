"""The weights at every temperature, computed on the server and leafed through in the browser."""

from dataclasses import replace

from torch import Tensor

from explainers.attention.scaling import with_temperature
from explainers.charts.matrix import Values
from explainers.ui import controls
from explainers.ui.figure import show_figure
from explainers.ui.one_head import OneHead
from explainers.ui.panels import Panel, Slider, oriented
from explainers.ui.source import run_and_show


def show_temperatures(one_head: OneHead, products: Tensor, queries_down: bool, origin: str) -> None:
    """Softmax(QKᵀ ÷ temperature) beside attention's own weights; they meet where it is √d_k."""
    control = controls.temperature
    place = control()
    own = replace(one_head.panel("weights"), sources=())
    frames = tuple(_unmasked(with_temperature(products, step), own) for step in control.steps)
    warm = replace(own, id="warm", matrix=replace(own.matrix, values=frames[place]), frames=frames)
    panels = [
        _named(warm, "at this temperature", "softmax(Q · Kᵀ ÷ temperature)"),
        _named(own, "attention", "softmax(Q · Kᵀ ÷ √d_k)"),
    ]
    slider = Slider(control.label, [f"{step:g}" for step in control.steps], place, control.put)
    show_figure(oriented(panels, queries_down), origin, "temperature", slider=slider)
    run_and_show(with_temperature, products, control.steps[place])


def _named(panel: Panel, name: str, formula: str) -> Panel:
    return replace(panel, matrix=replace(panel.matrix, name=name, formula=formula))


def _unmasked(weights: Tensor, like: Panel) -> Values:
    """The weights as numbers, blank where the picture they stand beside is blank."""
    return [
        [None if blank is None else weight for weight, blank in zip(*lines, strict=True)]
        for lines in zip(weights.tolist(), like.matrix.values, strict=True)
    ]
