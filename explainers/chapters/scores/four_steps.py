"""The four steps of attention: what goes in, what comes out, and one row of weights as bars."""

from explainers.attention.steps import OPERATIONS
from explainers.chapters.common.one_head import OneHead, arithmetic_of
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.control import describe_options
from explainers.ui.figure.chart import show_chart
from explainers.ui.figure.clickable_figure import explore_figure, show_clickable_figure
from explainers.ui.lecture.screens import is_lecture
from explainers.ui.page import Prose
from explainers.ui.source import show_source


def show_shares(one_head: OneHead, row: int, origin: str) -> None:
    """The weights of the query in `row`, a bar per token."""
    from explainers.charts.distribution import draw_distribution, make_share_rows

    query = one_head.tokens[row]
    series = _("query {row}: {query}", row=row, query=query)
    rows = make_share_rows({series: one_head.numbers["weights"][row]}, one_head.tokens)
    alt = _("How {query} divides its attention: a bar per token, the bars sum to 1.", query=query)
    show_chart(draw_distribution, rows, alt, "shares", origin, length=len(one_head.tokens))


def steps_shown() -> tuple[str, ...]:
    """The step that the reader chose; a class, which turns screens instead, sees all in turn."""
    if not is_lecture():
        return (controls.step(),)
    controls.step.set_aside(controls.step.options, describe_options(controls.step.options))
    return controls.step.options


def show_step(text: Prose, one_head: OneHead, step: str, queries_down: bool, origin: str) -> None:
    """The picture and the code of one step; of the weights, a row as bars as well."""
    text(f"step_{step}")
    if is_lecture():
        _show_to_class(one_head, step, queries_down, origin)
        return
    panels, working = one_head.step(step, queries_down), arithmetic_of(one_head)
    _unused, cell = explore_figure(panels, working, origin, "steps", _alt(step), stepper=step)
    if step == "weights":
        show_shares(one_head, cell.row, origin)
    show_source(*OPERATIONS[step])


def _show_to_class(one_head: OneHead, step: str, queries_down: bool, origin: str) -> None:
    """Four pictures on one page: each remembers its own click, and the bars come last."""
    panels, working, key = (
        one_head.step(step, queries_down),
        arithmetic_of(one_head),
        f"step {step}",
    )
    clicked = show_clickable_figure(panels, working, origin, key, _alt(step), stepper=step)
    show_source(*OPERATIONS[step])
    if step == "weights":
        row = clicked.row if clicked else controls.row.default
        show_shares(one_head, min(row, len(one_head.tokens) - 1), origin)


def _alt(step: str) -> str:
    return _("What goes into and comes out of: {step}.", step=_(step))
