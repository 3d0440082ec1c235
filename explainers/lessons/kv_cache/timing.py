"""Measure it here: a button, a progress bar, and two curves that grow point by point."""

from functools import partial

import streamlit as st
import torch

from explainers.lessons.kv_cache.stopwatch import RUNS, Timed, lengths_on, timed
from explainers.lessons.measuring import Measuring
from explainers.lessons.wording import waiting
from explainers.turns import BusyError
from explainers.ui.picture import show_chart
from explainers.ui.plain import verbatim
from explainers.ui.prose import Prose
from explainers.ui.provenance import measured

JOB, REFUSED = "timing of the cache", "timing refused"
EVERY = 0.5
"""Seconds between two looks at a measurement that runs."""
SERIES = "with the cache", "without"


def show_timing(text: Prose, device: torch.device) -> None:
    """What was measured in this visit, or the button to do it."""
    text("timing", longest=f"{lengths_on(device)[-1]:,}")
    job: Measuring[Timed] | None = st.session_state.get(JOB)
    is_running = job is not None and not job.is_over
    st.button(
        "Measure it here",
        on_click=_start,
        args=(device,),
        icon=":material/timer:",
        disabled=is_running,
    )
    if refused := st.session_state.pop(REFUSED, ""):
        st.info(refused, icon=":material/hourglass:")
    if job:
        look = st.fragment(_look, run_every=EVERY if is_running else None)
        look(text, job, device, is_running)


def _start(device: torch.device) -> None:
    """A callback: the page is drawn afterwards."""
    lengths = lengths_on(device)
    try:
        st.session_state[JOB] = Measuring(len(lengths), partial(timed, lengths)).start()
    except BusyError as busy:
        st.session_state[REFUSED] = f"{busy} Try again in a minute."


def _look(text: Prose, job: Measuring[Timed], device: torch.device, is_polled: bool) -> None:
    """How far it is; drawn again and again as long as it runs."""
    if is_polled and job.is_over:
        st.rerun()  # the page as it is afterwards: nobody has to look again
    found = list(job.found)
    if job.state == "failed":
        st.error(f"Measuring stopped: {verbatim(job.error)}", icon=":material/error:")
        return
    if job.state == "waiting":
        st.progress(0.0, waiting(job.before))
    else:
        stopped = ", cancelled" if job.state == "cancelled" else ""
        st.progress(len(found) / job.steps, f"Length {len(found)} of {job.steps}{stopped}")
    if is_polled:
        st.button("Cancel", key="cancel timing", on_click=job.cancel, icon=":material/stop_circle:")
    if found:
        _show_times(found, device)
    if job.state == "done":
        first, last = found[0], found[-1]
        text(
            "timed",
            length=f"{last.length:,}",
            cached=f"{1000 * last.cached:.2f}",
            recomputed=f"{1000 * last.recomputed:.1f}",
            ratio=f"{last.recomputed / last.cached:.0f}",
            first=first.length,
            first_ratio=f"{first.recomputed / first.cached:.1f}",
        )


def _show_times(found: list[Timed], device: torch.device) -> None:
    import pandas as pd

    from explainers.charts.curve import Axis, curve  # a page is there before it needs altair

    points = [(one.length, 1000 * one.cached, SERIES[0], False) for one in found]
    points += [(one.length, 1000 * one.recomputed, SERIES[1], False) for one in found]
    rows = pd.DataFrame(points, columns=["x", "y", "series", "reference"])
    last = found[-1]
    alt = (
        f"Milliseconds for one more token at {last.length:,} words: {1000 * last.cached:.2f} with "
        f"the cache, {1000 * last.recomputed:.2f} without."
    )
    axes = {
        "x": Axis("words before and with it", logarithmic=True),
        "y": Axis("ms per word", logarithmic=True),
    }
    origin = measured(f"two random layers, the fastest of {RUNS} runs", device)
    show_chart(curve, rows, alt, "timing", origin, series=SERIES, **axes)
