"""What a training in front of the reader came to: its loss, its heads, and how good they are."""

from collections.abc import Sequence
from functools import lru_cache
from statistics import mean

import streamlit as st

from explainers.attention import masks
from explainers.charts.matrix import Values, blanked, pairs
from explainers.trained import Configuration, Learned
from explainers.training.live import Job
from explainers.training.loop import POOL
from explainers.training.report import Row, mean_and_spread, measured, rows
from explainers.ui.common import queries_down
from explainers.ui.figure import show_figure
from explainers.ui.panels import Figure, Panel, Slider, oriented
from explainers.ui.picture import show_chart

FRAME = "snapshot looked at"
POINTS = 60


def batches(job: Job) -> str:
    """How far it is: a server's first training waits for its sentences, and that is no batch 0."""
    losses = list(job.losses)
    if job.state == "running" and not losses:
        return f"writing {POOL:,} sentences to learn from"
    loss = f", loss {losses[-1]:.2f}" if losses and not job.begin else ""  # with it there are two
    return f"batch {len(losses)} of {job.steps}{loss}"


@lru_cache(maxsize=8)
def _tested(configuration: Configuration, learned: Learned) -> Row:
    return measured(configuration, [learned])


def compared(configuration: Configuration, learned: Learned) -> str:
    """What was learned here beside what the shipped layers learned, on the same sentences."""
    row, shipped = _tested(configuration, learned), rows()[configuration]
    return (
        f"On sentences that it never saw, **this layer's loss is {row.loss[0]:.2f} per word**, and "
        f"it is right about {row.accuracy[0]:.0%} of the words. The layers "
        f"trained beforehand in the same way, with the seeds 0 to {len(shipped.loss) - 1}: loss "
        f"{mean_and_spread(shipped.loss)}, right about {mean(shipped.accuracy):.0%}."
    )


def show_losses(losses: list[float], origin: str) -> None:
    import pandas as pd

    from explainers.charts.curve import Axis, curve  # a page is there before it needs altair

    size = max(1, len(losses) // POINTS)
    points = [
        (place + size, sum(losses[place : place + size]) / size, "loss", False)
        for place in range(0, len(losses) - size + 1, size)
    ]
    rows = pd.DataFrame(points, columns=["x", "y", "series", "reference"])
    alt = (
        f"The loss after {len(losses)} batches: it began at {losses[0]:.1f}, now {losses[-1]:.2f}."
    )
    axes = {"x": Axis("batch"), "y": Axis("loss per word")}
    show_chart(curve, rows, alt, "losses", origin, series=("loss",), **axes)


def show_heads(job: Job, is_over: bool, origin: str) -> None:
    """The heads as they are now; afterwards a slider leads from diffuse to sharp."""
    snapshots = list(job.snapshots)
    last = len(snapshots) - 1
    place = min(st.session_state.get(FRAME, last), last) if is_over else last
    panels = []
    for head in range(job.configuration.num_heads):
        frames = tuple(_allowed(job, snapshot.weights[head]) for snapshot in snapshots)
        formula = "every row sums to 1" if is_over else f"after {snapshots[last].step} batches"
        matrix = pairs(f"head {head}", formula, frames[place], job.tokens, "weights")
        panels.append(Panel(matrix.name, matrix, frames=frames if is_over else ()))
    labels = [f"after {snapshot.step} batches" for snapshot in snapshots]
    slider = Slider("From diffuse to sharp", labels, place, _turn) if is_over else None
    alt = f"The weights of every head {labels[place]}: diffuse at first, sharp in the end."
    show_figure(Figure(oriented(panels, queries_down()), alt, slider=slider), origin, "live heads")


def _turn(place: int) -> None:
    st.session_state[FRAME] = place


def _allowed(job: Job, weights: Sequence[Sequence[float]]) -> Values:
    """One head's weights, blank where the mask forbids."""
    length = len(job.tokens)
    allowed = masks.build(masks.RULES[job.configuration.rule], length, length).tolist()
    return blanked(weights, allowed)
