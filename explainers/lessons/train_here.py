"""Train it here: the shown configuration learns in front of the reader, without any shipped file.

A page calls, anywhere outside of its own fragments or in one,

    train_here(tokens, num_heads, num_kv_heads, head_dim, rule, seed) -> Learned | None

with a configuration that `trained.configurations()` has, and any seed. It gets back what the heads
learned during this visit, or None before. Only the last training of a visitor is kept.
"""

from collections.abc import Sequence

import streamlit as st

from explainers.attention import masks
from explainers.charts.matrix import Matrix, Values
from explainers.charts.theme import KEY_AXIS, QUERY_AXIS
from explainers.trained import Configuration, Learned
from explainers.training.live import BusyError, Job
from explainers.ui.common import queries_down
from explainers.ui.figure import show_figure
from explainers.ui.panels import Figure, Panel, Slider, oriented
from explainers.ui.picture import show_chart
from explainers.ui.plain import verbatim
from explainers.ui.provenance import learned_live

JOB, FRAME, REFUSED = "training of this visitor", "snapshot looked at", "training refused"
EVERY = 0.8
"""Seconds between two looks at a training that runs."""
POINTS = 60


def train_here(
    tokens: tuple[str, ...], num_heads: int, num_kv_heads: int, head_dim: int, rule: str, seed: int
) -> Learned | None:
    """A button, and what training comes to while one looks on."""
    wanted = Job(Configuration(num_heads, num_kv_heads, head_dim, rule), seed, tokens)
    job: Job | None = st.session_state.get(JOB)
    is_shown = job is not None and _same(job, wanted)
    is_running = job is not None and not job.is_over
    st.button(
        "Train it here",
        on_click=_start,
        args=(wanted,),
        icon=":material/model_training:",
        disabled=is_running,
        help="The heads shown above begin with random weights and learn the task, in some seconds.",
    )
    if refused := st.session_state.pop(REFUSED, ""):
        st.info(refused, icon=":material/hourglass:")
    if job is None or not (is_shown or is_running):
        return None
    st.fragment(_look, run_every=EVERY if is_running else None)(job, is_running)
    return job.learned if is_shown else None


def _same(job: Job, wanted: Job) -> bool:
    return (job.configuration, job.seed, job.tokens) == (
        wanted.configuration,
        wanted.seed,
        wanted.tokens,
    )


def _start(job: Job) -> None:
    """A callback: the page is drawn afterwards."""
    before: Job | None = st.session_state.get(JOB)
    if before:
        before.cancel()
    try:
        st.session_state[JOB] = job.start()
        st.session_state.pop(FRAME, None)
    except BusyError as busy:
        st.session_state[REFUSED] = f"{busy} Try again in a minute."


def _look(job: Job, is_live: bool) -> None:
    """How far it is; a live one is drawn again and again until it is over, and then the page."""
    is_over, done = job.is_over, len(job.losses)
    heads, shared, head_dim, rule = job.configuration
    what = f"{heads} query heads, {shared} KV heads, d_k {head_dim}, mask {rule}, seed {job.seed}"
    if job.state == "failed":
        st.error(f"Training stopped: {verbatim(job.error)}", icon=":material/error:")
    elif job.state == "waiting":
        st.progress(0.0, "Another training runs; this one is next.")
    else:
        loss = f", loss {job.losses[-1]:.2f}" if job.losses else ""
        stopped = " · cancelled" if job.state == "cancelled" else ""
        st.progress(done / job.steps, f"{what}: batch {done} of {job.steps}{loss}{stopped}")
    if not is_over:
        st.button("Cancel", on_click=job.cancel, icon=":material/stop_circle:")
    origin = learned_live(f"related words, {what}, {done} batches")
    if done:
        _show_losses(job.losses[:done], origin)
    if job.snapshots:
        _show_heads(job, is_over, origin)
    if is_live and job.is_over:
        st.rerun()


def _show_losses(losses: list[float], origin: str) -> None:
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


def _show_heads(job: Job, is_over: bool, origin: str) -> None:
    """The heads as they are now; afterwards a slider leads from diffuse to sharp."""
    snapshots = list(job.snapshots)
    last = len(snapshots) - 1
    place = min(st.session_state.get(FRAME, last), last) if is_over else last
    panels = []
    for head in range(job.configuration.num_heads):
        frames = tuple(_allowed(job, snapshot.weights[head]) for snapshot in snapshots)
        axes = (job.tokens, job.tokens, QUERY_AXIS, KEY_AXIS)
        formula = "weights: every row sums to 1"
        matrix = Matrix(f"head {head}", formula, frames[place], *axes, kind="weights", blank="0")
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
    return [
        [weight if may else None for weight, may in zip(*lines, strict=True)]
        for lines in zip(weights, allowed, strict=True)
    ]
