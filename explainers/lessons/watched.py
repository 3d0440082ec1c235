"""A training that a reader asks for, watches and cancels; each page keeps its last one."""

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st

from explainers.lessons.wording import waiting
from explainers.trained import Configuration
from explainers.training.live import Job
from explainers.training.loop import POOL
from explainers.turns import BusyError
from explainers.ui.plain import verbatim

EVERY = 0.8
"""Seconds between two looks at a training that runs."""
REFUSED = "{}: refused"


class Asked(NamedTuple):
    """What a training is of."""

    configuration: Configuration
    seed: int
    tokens: tuple[str, ...]


def asked_of(job: Job) -> Asked:
    return Asked(job.configuration, job.seed, job.tokens)


def start(key: str, asked: Asked, make: Callable[[], Job]) -> bool:
    """Has another one begun? In a callback: the page is drawn afterwards."""
    before: Job | None = st.session_state.get(key)
    if before and not before.is_over:
        if asked_of(before) == asked:
            return False  # a second click, from before the page could answer the first
        before.cancel()
    try:
        st.session_state[key] = make().start()
    except BusyError as busy:
        st.session_state[REFUSED.format(key)] = f"{busy} Try again in a minute."
        return False
    return True


def show_refused(key: str) -> None:
    """Why none has begun: once, on the page that asked for it."""
    if refused := st.session_state.pop(REFUSED.format(key), ""):
        st.info(refused, icon=":material/hourglass:")


def watch(key: str, job: Job, what: str, show: Callable[[], None]) -> None:
    """How far it is, and what `show` draws of it, again and again as long as it is not over."""
    is_polled = not job.is_over
    look = st.fragment(_look, run_every=EVERY if is_polled else None)
    look(key, job, what, show, is_polled)


def _look(key: str, job: Job, what: str, show: Callable[[], None], is_polled: bool) -> None:
    if is_polled and job.is_over:
        st.rerun()  # the page as it is after a training: nobody has to look again
    if job.state == "failed":
        st.error(f"Training stopped: {verbatim(job.error)}", icon=":material/error:")
        return
    st.progress(len(job.losses) / job.steps, f"{what}: {state_of(job)}")
    if is_polled:
        icon = ":material/stop_circle:"
        st.button("Cancel", key=f"{key}: cancel", on_click=job.cancel, icon=icon)
    show()


def state_of(job: Job) -> str:
    """In words: the first training of a server waits for its sentences, and that is no batch 0."""
    losses = list(job.losses)
    batch = f"batch {len(losses)} of {job.steps}"
    if job.state == "waiting":
        return waiting(job.before)
    if job.state == "running" and not losses:
        return f"writing {POOL:,} sentences to learn from"
    loss = f", loss {losses[-1]:.2f}" if losses and not job.begin else ""  # with it there are two
    stopped = ", cancelled" if job.state == "cancelled" else ""
    return f"{batch}{loss}{stopped}"
