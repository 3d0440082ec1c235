"""Measure it here: a button, what is found meanwhile, and the points over the line of theory."""

from typing import TYPE_CHECKING

import streamlit as st

from explainers.attention.scaled_dot_product import attention
from explainers.attention.tiled import tiled_attention
from explainers.device import best_device, device_name
from explainers.lessons.long_sequences.measure import (
    HEAD_DIM,
    WAYS,
    Measured,
    blocks,
    lengths_to,
    measured,
)
from explainers.lessons.long_sequences.points import Point, line, peaks, times
from explainers.lessons.measuring import Measuring
from explainers.lessons.wording import waiting
from explainers.turns import BusyError
from explainers.ui.picture import show_chart
from explainers.ui.plain import verbatim
from explainers.ui.prose import Prose
from explainers.ui.provenance import measured as measured_live
from explainers.ui.source import show_source

if TYPE_CHECKING:
    import pandas as pd

JOB, REFUSED = "measurement of this visitor", "measurement refused"
EVERY = 0.8
"""Seconds between two looks at a measurement that runs."""


def show_measuring(text: Prose, longest: int) -> None:
    """A button, and what measuring comes to while one looks on."""
    job: Measuring[Measured] | None = st.session_state.get(JOB)
    is_running = job is not None and not job.is_over
    st.button(
        "Measure on this machine",
        on_click=_start,
        args=(longest,),
        icon=":material/timer:",
        disabled=is_running,
    )
    if refused := st.session_state.pop(REFUSED, ""):
        st.info(refused, icon=":material/hourglass:")
    if job:
        st.fragment(_look, run_every=EVERY if is_running else None)(text, job, is_running)
        show_source(attention, tiled_attention)


def job_for(longest: int) -> Measuring[Measured]:
    """All ways at all lengths up to the longest, on the present device."""
    lengths = lengths_to(longest)
    return Measuring(len(WAYS) * len(lengths), lambda: measured(lengths, best_device()))


def _start(longest: int) -> None:
    """A callback: the page is drawn afterwards."""
    try:
        st.session_state[JOB] = job_for(longest).start()
    except BusyError as busy:
        st.session_state[REFUSED] = f"{busy} Try again in a minute."


def _look(text: Prose, job: Measuring[Measured], is_live: bool) -> None:
    """How far it is; a live one is drawn again and again until it is over, and then the page."""
    is_over, found = job.is_over, list(job.found)
    if job.state == "failed":
        st.error(f"Measuring stopped: {verbatim(job.error)}", icon=":material/error:")
    elif job.state == "waiting":
        st.progress(0.0, waiting(job.before))
    else:
        stopped = " · cancelled" if job.state == "cancelled" else ""
        last = f": {found[-1].way} attention, {found[-1].length:,} tokens" if found else ""
        st.progress(len(found) / job.steps, f"{len(found)} of {job.steps}{last}{stopped}")
    if not is_over:
        st.button("Cancel", key="cancel measuring", on_click=job.cancel)
    if found:
        show_found(text, found)
    if is_live and job.is_over:
        st.rerun()


def show_found(text: Prose, found: list[Measured]) -> None:
    """Points over theory's lines, and every number in a table."""
    from explainers.charts.curve import Axis, curve  # the page needs no altair to start

    device = best_device()
    origin = measured_live(f"full attention, one head, d_k {HEAD_DIM}, float32", device)
    tokens = Axis("tokens n", True, tuple(sorted({one.length for one in found})))
    left, right = st.columns(2)
    for column, points, unit in (
        (left, times(found), "milliseconds"),
        (right, peaks(found), "MiB"),
    ):
        if points:
            alt = (
                f"{unit} against tokens, both axes in powers of 2, for {', '.join(WAYS)} attention."
            )
            axes = {"x": tokens, "y": Axis(unit, logarithmic=True)}
            with column:
                show_chart(
                    curve, _rows(points), alt, f"measured {unit}", origin, series=WAYS, **axes
                )
    lines = [line(found, length) for length in sorted({one.length for one in found})]
    largest = max((one.difference for one in found if one.difference is not None), default=0.0)
    q_block, kv_block = blocks(device)
    text(
        "measured",
        device=device_name(device),
        rows="\n".join(lines),
        largest=f"{largest:.2g}",
        q_block=f"{q_block:,}",
        kv_block=f"{kv_block:,}",
    )


def _rows(points: list[Point]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(points, columns=["x", "y", "series", "reference"])
