"""Train it here: the shown configuration learns in front of the reader; loss, heads and quality."""

from collections.abc import Sequence
from functools import lru_cache, partial
from statistics import mean

import streamlit as st

from explainers.attention import masks
from explainers.chapters.common.background_job import button, start, watch
from explainers.chapters.common.mask_names import say_mask
from explainers.charts.matrix import Values, blank_forbidden, make_pair_matrix
from explainers.messages import N_, ngettext
from explainers.toys.train import POOL
from explainers.toys.trained_heads import Configuration, Learned
from explainers.toys.training_job import Asked, Job
from explainers.toys.training_report import Row, mean_and_spread, measured, rows
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.figure.figure import show_figure
from explainers.ui.figure.panels import Figure, Panel, Slider, oriented
from explainers.ui.page import queries_down
from explainers.ui.provenance import learned_live
from explainers.ui.session import TRAINING_FRAME, TRAINING_JOB

POINTS = 60


def batches(job: Job) -> str:
    """How far it is: a server's first training waits for its sentences, and that is no batch 0."""
    losses = list(job.losses)
    if job.state == "running" and not losses:
        return _("writing {count:,} sentences to learn from", count=POOL)
    done = _("batch {number} of {steps}", number=len(losses), steps=job.steps)
    if not losses or job.begin:  # with a beginning there are two losses
        return done
    return _("{done}, loss {loss:.2f}", done=done, loss=losses[-1])


@lru_cache(maxsize=8)
def _tested(configuration: Configuration, learned: Learned) -> Row:
    return measured(configuration, [learned])


def compared(configuration: Configuration, learned: Learned) -> str:
    """What was learned here beside what the shipped layers learned, on the same sentences."""
    row, shipped = _tested(configuration, learned), rows()[configuration]
    return _(
        "On sentences that it never saw, **this layer's loss is {loss:.2f} per word**, and "
        "it is right about {right:.0%} of the words. The layers trained beforehand in the same "
        "way, with the seeds 0 to {last}: loss {others}, right about {others_right:.0%}.",
        loss=row.loss[0],
        right=row.accuracy[0],
        last=len(shipped.loss) - 1,
        others=mean_and_spread(shipped.loss),
        others_right=mean(shipped.accuracy),
    )


def show_losses(losses: list[float], origin: str) -> None:
    import pandas as pd

    from explainers.charts.measured_curve import (  # a page is there before it needs altair
        Axis,
        draw_curve,
    )

    size, series = max(1, len(losses) // POINTS), _("loss")
    points = [
        (place + size, sum(losses[place : place + size]) / size, series, False)
        for place in range(0, len(losses) - size + 1, size)
    ]
    rows = pd.DataFrame(points, columns=["x", "y", "series", "reference"])
    alt = _(
        "The loss after {count} batches: it began at {first:.1f}, now {last:.2f}.",
        count=len(losses),
        first=losses[0],
        last=losses[-1],
    )
    axes = {"x": Axis(_("batch")), "y": Axis(_("loss per word"))}
    show_chart(draw_curve, rows, alt, "losses", origin, series=(series,), **axes)


def show_heads(job: Job, is_over: bool, origin: str) -> None:
    """The heads as they are now; afterwards a slider leads from diffuse to sharp."""
    snapshots = list(job.snapshots)
    last = len(snapshots) - 1
    place = min(st.session_state.get(TRAINING_FRAME, last), last) if is_over else last
    labels = [_("after {count} batches", count=snapshot.step) for snapshot in snapshots]
    panels = []
    for head in range(job.configuration.num_heads):
        frames = tuple(_allowed(job, snapshot.weights[head]) for snapshot in snapshots)
        formula = N_("every row sums to 1") if is_over else labels[last]
        name = _("head {number}", number=head)
        matrix = make_pair_matrix(name, formula, frames[place], job.tokens, "weights")
        panels.append(Panel(f"head {head}", matrix, frames=frames if is_over else ()))
    slider = Slider(_("From diffuse to sharp"), labels, place, _turn) if is_over else None
    alt = _(
        "The weights of every head {when}: diffuse at first, sharp in the end.", when=labels[place]
    )
    show_figure(Figure(oriented(panels, queries_down()), alt, slider=slider), origin, "live heads")


def _turn(place: int) -> None:
    st.session_state[TRAINING_FRAME] = place


def _allowed(job: Job, weights: Sequence[Sequence[float]]) -> Values:
    """One head's weights, blank where the mask forbids."""
    length = len(job.tokens)
    allowed = masks.build(masks.RULES[job.configuration.rule], length, length).tolist()
    return blank_forbidden(weights, allowed)


def train_here(
    tokens: tuple[str, ...], num_heads: int, num_kv_heads: int, head_dim: int, rule: str, seed: int
) -> None:
    """A button, and what training comes to while one looks on."""
    asked = Asked(Configuration(num_heads, num_kv_heads, head_dim, rule), seed, tokens)
    job: Job | None = st.session_state.get(TRAINING_JOB)
    is_running = button(
        TRAINING_JOB,
        _("Train it here"),
        _start,
        asked,
        icon=":material/model_training:",
        help=_(
            "Watch the same heads learn the task, from random weights, in some seconds: they go "
            "from diffuse to sharp, and the loss falls."
        ),
    )
    if job and (is_running or job.asked == asked):
        watch(TRAINING_JOB, job, _what(job), partial(batches, job), partial(_show, job))


def _start(asked: Asked) -> None:
    if start(TRAINING_JOB, asked, lambda: Job(*asked)):
        st.session_state.pop(TRAINING_FRAME, None)


def _what(job: Job) -> str:
    heads, shared, head_dim, rule = job.configuration
    return _(
        "{heads}, {shared}, d_k {head_dim}, mask {mask}, seed {seed}",
        heads=_(ngettext("{count:,} query head", "{count:,} query heads", heads)),
        shared=_(ngettext("{count:,} KV head", "{count:,} KV heads", shared)),
        head_dim=head_dim,
        mask=say_mask(rule),
        seed=job.seed,
    )


def _show(job: Job) -> None:
    is_over, losses = job.is_over, list(job.losses)
    if job.learned:
        st.markdown(compared(job.configuration, job.learned))
    # How many batches it were stands at the bar and in each picture: they count differently.
    origin = learned_live(_("related words, {what}", what=_what(job)))
    if losses:
        show_losses(losses, origin)
    if job.snapshots:
        show_heads(job, is_over, origin)
