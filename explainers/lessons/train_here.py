"""Train it here: the shown configuration learns in front of the reader, without any shipped file.

A page calls, anywhere outside of its own fragments or in one,

    train_here(tokens, num_heads, num_kv_heads, head_dim, rule, seed)

with a configuration that `trained.configurations()` has, and any seed. Only the last training of a
visitor is kept.
"""

from functools import partial

import streamlit as st

from explainers.lessons.training_pictures import (
    FRAME,
    batches,
    compared,
    show_heads,
    show_losses,
)
from explainers.lessons.watched import button, start, watch
from explainers.lessons.wording import so_many
from explainers.trained import Configuration
from explainers.training.live import Asked, Job
from explainers.ui.language import said, translated
from explainers.ui.provenance import learned_live

JOB = "training of this visitor"


def train_here(
    tokens: tuple[str, ...], num_heads: int, num_kv_heads: int, head_dim: int, rule: str, seed: int
) -> None:
    """A button, and what training comes to while one looks on."""
    asked = Asked(Configuration(num_heads, num_kv_heads, head_dim, rule), seed, tokens)
    job: Job | None = st.session_state.get(JOB)
    is_running = button(
        JOB,
        said("Train it here"),
        _start,
        asked,
        icon=":material/model_training:",
        help=said(
            "Watch the same heads learn the task, from random weights, in some seconds: they go "
            "from diffuse to sharp, and the loss falls."
        ),
    )
    if job and (is_running or job.asked == asked):
        watch(JOB, job, _what(job), partial(batches, job), partial(_show, job))


def _start(asked: Asked) -> None:
    if start(JOB, asked, lambda: Job(*asked)):
        st.session_state.pop(FRAME, None)


def _what(job: Job) -> str:
    heads, shared, head_dim, rule = job.configuration
    return said(
        "{heads}, {shared}, d_k {head_dim}, mask {mask}, seed {seed}",
        heads=so_many(heads, "query head"),
        shared=so_many(shared, "KV head"),
        head_dim=head_dim,
        mask=translated(rule),
        seed=job.seed,
    )


def _show(job: Job) -> None:
    is_over, losses = job.is_over, list(job.losses)
    if job.learned:
        st.markdown(compared(job.configuration, job.learned))
    # How many batches it were stands at the bar and in each picture: they count differently.
    origin = learned_live(said("related words, {what}", what=_what(job)))
    if losses:
        show_losses(losses, origin)
    if job.snapshots:
        show_heads(job, is_over, origin)
