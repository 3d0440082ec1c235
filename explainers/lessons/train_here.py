"""Train it here: the shown configuration learns in front of the reader, without any shipped file.

A page calls, anywhere outside of its own fragments or in one,

    train_here(tokens, num_heads, num_kv_heads, head_dim, rule, seed) -> Learned | None

with a configuration that `trained.configurations()` has, and any seed. It gets back what the heads
learned during this visit, or None before. Only the last training of a visitor is kept.
"""

import streamlit as st

from explainers.lessons.training_pictures import FRAME, compared, show_heads, show_losses
from explainers.trained import Configuration, Learned
from explainers.training.live import Job
from explainers.turns import BusyError
from explainers.ui.plain import verbatim
from explainers.ui.provenance import learned_live

JOB, REFUSED = "training of this visitor", "training refused"
EVERY = 0.8
"""Seconds between two looks at a training that runs."""


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
    if job.learned:
        st.markdown(compared(job.configuration, job.learned))
    # How many batches it were stands at the bar and in each picture: they count differently.
    origin = learned_live(f"related words, {what}")
    if done:
        show_losses(job.losses[:done], origin)
    if job.snapshots:
        show_heads(job, is_over, origin)
    if is_live and job.is_over:
        st.rerun()
