"""The four steps of attention, one picture each."""

from dataclasses import replace

import torch

from explainers.attention.steps import OPERATIONS, softmax
from explainers.chapters.common.choose_layer import LayerSizes
from explainers.chapters.common.one_head import OneHead, make_explainer, read_head
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.control import describe_options
from explainers.ui.figure.chart import show_chart
from explainers.ui.figure.clickable_figure import explore_figure, show_clickable_figure
from explainers.ui.figure.panels import View, orient_panels
from explainers.ui.lecture.screens import is_lecture
from explainers.ui.source import show_source
from explainers.ui.text.numbers import write_percent

EXAMPLE = (2.0, 0.0)
"""Two scores, with which softmax is worked out."""


def work_out_softmax() -> dict[str, str]:
    """The powers and the shares of two scores, for a text."""
    scores = torch.tensor(EXAMPLE)
    powers, shares = scores.exp().tolist(), softmax(scores).tolist()
    worked = {}
    for name, place in (("high", 0), ("low", 1)):
        worked[name] = f"{EXAMPLE[place]:g}"
        worked[f"{name}_power"] = f"{powers[place]:.2f}"
        worked[f"{name}_share"] = write_percent(shares[place])
    return worked


def show_shares(one_head: OneHead, row: int, origin: str) -> None:
    """The weights of the query in `row`, a bar per token."""
    from explainers.charts.bars import draw_distribution, make_share_rows

    query = one_head.tokens[row]
    series = _("query {row}: {query}", row=row, query=query)
    rows = make_share_rows({series: one_head.numbers["weights"][row]}, one_head.tokens)
    alt = _("How {query} divides its attention: a bar per token, the bars sum to 1.", query=query)
    show_chart(draw_distribution, rows, alt, "shares", origin, length=len(one_head.tokens))


def choose_steps() -> tuple[str, ...]:
    """The step that the reader chose; a class, which turns screens instead, sees all in turn."""
    if not is_lecture():
        return (controls.step(),)
    controls.step.set_aside(controls.step.options, describe_options(controls.step.options))
    return controls.step.options


def show_step(sizes: LayerSizes, step: str, queries_down: bool, origin: str) -> None:
    """The picture and the code of one step; of the weights, a row as bars as well."""

    def look(layer: Layer) -> View:
        one_head = read_head(layer)
        return View(one_head.step(step, queries_down), make_explainer(one_head))

    slider, alt = (
        sizes.make_slider(look),
        _("What goes into and comes out of: {step}.", step=_(step)),
    )
    if is_lecture():  # four pictures on one page, each remembers its own click
        cell = show_clickable_figure(
            *slider.view, origin, f"step {step}", alt, stepper=step, view_slider=slider
        ).cell
        row = cell.row if cell else controls.row.default
    else:
        row = explore_figure(
            *slider.view, origin, "steps", alt, stepper=step, view_slider=slider
        ).cell.row
    if step == "weights":
        show_shares(read_head(sizes.layer), min(row, len(sizes.layer.tokens) - 1), origin)
    show_source(*OPERATIONS[step])


def show_all_words(one_head: OneHead, word: int, queries_down: bool, origin: str) -> None:
    """The four steps for all words, a small matrix each; the row of a word stands in a box."""
    panels = [
        replace(one_head.panel(name, "→" if at else ""), followed=word)
        for at, name in enumerate(("products", "scores", "weights", "output"))
    ]
    alt = _("Four matrices: products, scores, weights and output, a row for each word.")
    working = make_explainer(one_head)
    show_clickable_figure(orient_panels(panels, queries_down), working, origin, "all words", alt)
    show_source(*sum(OPERATIONS.values(), ()))
