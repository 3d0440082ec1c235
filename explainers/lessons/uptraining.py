"""From trained heads to shared ones: average, see what it costs, and train a little more."""

from dataclasses import replace

import streamlit as st
import torch

from explainers import trained
from explainers.attention.grouped_query import average_kv_heads
from explainers.trained import Configuration, Learned
from explainers.training.batch import Batch, given
from explainers.training.live import BusyError, Job
from explainers.training.loop import fresh, mean_loss, parts_of, pool
from explainers.ui.picture import show_chart
from explainers.ui.plain import verbatim
from explainers.ui.prose import Prose
from explainers.ui.provenance import learned_live

JOB, REFUSED = "uptraining of this visitor", "uptraining refused"
STEPS = 100
"""A sixth of what the heads were trained with from the start."""
TESTS = 250
"""A quarter of the held-out sentences: the page waits for them."""
EVERY = 0.5
"""Seconds between two looks at a training that runs."""
SERIES = ("while it trains", "MHA, before averaging")


def averaged(own: Configuration, num_kv_heads: int, seed: int) -> Learned:
    """The shipped heads of a configuration, with keys and values averaged in groups."""
    known = on_cpu(trained.learned(own, seed), own)
    return replace(known, layer=average_kv_heads(known.layer, num_kv_heads))


def on_cpu(known: Learned, own: Configuration) -> Learned:
    """Where training runs, whatever the pages' device is."""
    return Learned.of(known.words, (part.cpu() for part in parts_of(known)), own.head_dim)


@torch.no_grad()
def tested(known: Learned, rule: str) -> float:
    """The loss on sentences that training never sees."""
    some = Batch(*(part[:TESTS] for part in pool(True)))
    return mean_loss(known, given(some, rule)).item()


@st.cache_data(show_spinner=False, max_entries=200)
def losses(own: Configuration, num_kv_heads: int, seed: int) -> tuple[float, float, float]:
    """The loss with keys and values of each head's own, with their averages, and untrained."""
    known = on_cpu(trained.learned(own, seed), own)
    untrained = Learned.of(known.words, fresh(own, seed), own.head_dim)
    some = known, averaged(own, num_kv_heads, seed), untrained
    before, after, at_random = (tested(one, own.rule) for one in some)
    return before, after, at_random


def show_uptraining(
    text: Prose, own: Configuration, num_kv_heads: int, seed: int, tokens: tuple[str, ...]
) -> None:
    """What averaging costs at once; on request, a little training, in a thread of its own."""
    text("uptraining", tests=TESTS)
    if num_kv_heads == own.num_heads:
        text("nothing_to_average", heads=own.num_heads)
        return
    seed = trained.shipped_seed(seed)
    before, after, untrained = (f"{loss:.2f}" for loss in losses(own, num_kv_heads, seed))
    text("averaged", before=before, after=after, untrained=untrained, kv_heads=num_kv_heads)
    shared = own._replace(num_kv_heads=num_kv_heads)
    job: Job | None = st.session_state.get(JOB)
    if job and (job.configuration, job.seed) != (shared, seed):
        job.cancel()
        job = None
    if job is None or job.is_over:
        label = f"Train the averaged heads with {STEPS} batches"
        asked = own, num_kv_heads, seed, tokens
        st.button(label, on_click=_start, args=asked, icon=":material/model_training:")
    if refused := st.session_state.pop(REFUSED, ""):
        st.info(refused, icon=":material/hourglass:")
    if job:
        is_polled = not job.is_over
        look = st.fragment(_look, run_every=EVERY if is_polled else None)
        look(text, job, before, after, is_polled)


def _start(own: Configuration, num_kv_heads: int, seed: int, tokens: tuple[str, ...]) -> None:
    """A callback: the page is drawn afterwards."""
    shared = own._replace(num_kv_heads=num_kv_heads)
    begin = averaged(own, num_kv_heads, seed)
    try:
        st.session_state[JOB] = Job(shared, seed, tokens, steps=STEPS, begin=begin).start()
    except BusyError as busy:
        st.session_state[REFUSED] = f"{busy} Try again in a minute."


def _look(text: Prose, job: Job, before: str, after: str, is_polled: bool) -> None:
    """How far it is; drawn again and again as long as it runs."""
    if is_polled and job.is_over:
        st.rerun()  # the page as it is after a training: nobody has to look again
    done = len(job.losses)
    if job.state == "failed":
        st.error(f"Training stopped: {verbatim(job.error)}", icon=":material/error:")
        return
    stopped = ", cancelled" if job.state == "cancelled" else ""
    st.progress(done / job.steps, f"Batch {done} of {job.steps}{stopped}")
    if is_polled:
        st.button("Cancel", key="cancel uptraining", on_click=job.cancel)
    if done:
        _show_losses(job, done, float(before))
    if job.learned:
        now = tested(job.learned, job.configuration.rule)
        text("uptrained", steps=job.steps, after=after, now=f"{now:.2f}")


def _show_losses(job: Job, done: int, before: float) -> None:
    import pandas as pd

    from explainers.charts.curve import Axis, curve  # a page is there before it needs altair

    points = [(step + 1, loss, SERIES[0], False) for step, loss in enumerate(job.losses[:done])]
    points += [(step, before, SERIES[1], True) for step in (1, job.steps)]
    rows = pd.DataFrame(points, columns=["x", "y", "series", "reference"])
    alt = (
        f"The loss of {done} batches: {job.losses[0]:.2f} at first, now {job.losses[done - 1]:.2f}."
    )
    origin = learned_live(f"related words, seed {job.seed}, {done} batches from averaged heads")
    axes = {"x": Axis("batch"), "y": Axis("loss per word")}
    show_chart(curve, rows, alt, "uptraining", origin, series=SERIES, **axes)
