"""One of the four steps: what goes in, what comes out, and the code of it."""

from explainers.attention.steps import OPERATIONS
from explainers.lessons.arithmetic import arithmetic_of
from explainers.lessons.one_head import OneHead
from explainers.lessons.scores import shares
from explainers.ui import controls
from explainers.ui.clicks import show_clickable
from explainers.ui.language import said, translated
from explainers.ui.lecturing import lecturing
from explainers.ui.links import one_of
from explainers.ui.numbers import explore
from explainers.ui.prose import Prose
from explainers.ui.source import show_source


def steps_shown() -> tuple[str, ...]:
    """The step that the reader chose; a class, which turns screens instead, sees all in turn."""
    if not lecturing():
        return (controls.step(),)
    controls.step.put_aside(controls.step.options, one_of(controls.step.options))
    return controls.step.options


def show_step(text: Prose, one_head: OneHead, step: str, queries_down: bool, origin: str) -> None:
    """The picture and the code of one step; of the weights, a row as bars as well."""
    text(f"step_{step}")
    if lecturing():
        _show_to_class(one_head, step, queries_down, origin)
        return
    panels, working = one_head.step(step, queries_down), arithmetic_of(one_head)
    _, cell = explore(panels, working, origin, "steps", _alt(step), stepper=step)
    if step == "weights":
        shares.show_shares(one_head, cell.row, origin)
    show_source(*OPERATIONS[step])


def _show_to_class(one_head: OneHead, step: str, queries_down: bool, origin: str) -> None:
    """Four pictures on one page: each remembers its own click, and the bars come last."""
    panels, working, key = (
        one_head.step(step, queries_down),
        arithmetic_of(one_head),
        f"step {step}",
    )
    clicked = show_clickable(panels, working, origin, key, _alt(step), stepper=step)
    show_source(*OPERATIONS[step])
    if step == "weights":
        row = clicked.row if clicked else controls.row.default
        shares.show_shares(one_head, min(row, len(one_head.tokens) - 1), origin)


def _alt(step: str) -> str:
    return said("What goes into and comes out of: {step}.", step=translated(step))
