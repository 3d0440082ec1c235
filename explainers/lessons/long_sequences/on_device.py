"""Measure it here: a button, what is found meanwhile, and the points over the line of theory."""

from functools import partial
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
from explainers.lessons.long_sequences.points import (
    Point,
    bytes_of,
    differences_of,
    peaks,
    seconds_of,
    table,
    times,
)
from explainers.lessons.measuring import Measuring
from explainers.lessons.watched import button, start, watch
from explainers.phrase import phrase
from explainers.ui.language import said, translated
from explainers.ui.picture import show_chart
from explainers.ui.prose import Prose
from explainers.ui.provenance import measured as measured_live
from explainers.ui.source import show_source

if TYPE_CHECKING:
    import pandas as pd

JOB = "measurement of this visitor"


def show_measuring(text: Prose, longest: int) -> None:
    """A button, and what measuring comes to while one looks on."""
    button(JOB, said("Measure on this machine"), _start, longest, icon=":material/timer:")
    job: Measuring[Measured] | None = st.session_state.get(JOB)
    if job:
        what = said("Up to {count:,} tokens", count=job.asked)
        watch(JOB, job, what, partial(_said, job), partial(_show, text, job))
        show_source(attention, tiled_attention)


def job_for(longest: int) -> Measuring[Measured]:
    """All ways at all lengths up to the longest, on the present device."""
    lengths = lengths_to(longest)
    return Measuring(len(WAYS) * len(lengths), lambda: measured(lengths, best_device()))


def _start(longest: int) -> None:
    start(JOB, longest, lambda: job_for(longest))


def _said(job: Measuring[Measured]) -> str:
    """How much was measured, and what last."""
    found = list(job.found)
    done = said("{count} of {all}", count=len(found), all=job.steps)
    if not found:
        return done
    way, length = found[-1].way, found[-1].length
    last = said("{way} attention, {length:,} tokens", way=way, length=length)
    return f"{done}, {last}"


def _show(text: Prose, job: Measuring[Measured]) -> None:
    if found := list(job.found):
        show_found(text, found)


def show_found(text: Prose, found: list[Measured]) -> None:
    """Points over theory's lines, and every number in a table."""
    from explainers.charts.curve import Axis, curve  # the page needs no altair to start

    device = best_device()
    what = said("full attention, one head, d_k {head_dim}, float32", head_dim=HEAD_DIM)
    origin = measured_live(what, device)
    tokens = Axis(phrase("tokens n"), True, tuple(sorted({one.length for one in found})))
    left, right = st.columns(2)
    for column, points, unit in (
        (left, times(found), phrase("milliseconds")),
        (right, peaks(found), "MiB"),
    ):
        if points:
            alt = said(
                "{unit} against tokens, both axes in powers of 2, for {ways} attention.",
                unit=translated(unit),
                ways=", ".join(WAYS),
            )
            axes = {"x": tokens, "y": Axis(unit, logarithmic=True)}
            with column:
                show_chart(
                    curve, _rows(points), alt, f"measured {unit}", origin, series=WAYS, **axes
                )
    largest = max((one.difference for one in found if one.difference is not None), default=0.0)
    q_block, kv_block = blocks(device)
    text(
        "measured",
        device=device_name(device),
        times=table(found, seconds_of),
        sizes=table(found, bytes_of),
        differences=table(found, differences_of),
        largest=f"{largest:.2g}",
        q_block=f"{q_block:,}",
        kv_block=f"{kv_block:,}",
    )


def _rows(points: list[Point]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(points, columns=["x", "y", "series", "reference"])
