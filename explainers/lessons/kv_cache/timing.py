"""Measure it here: a button, a progress bar, and two curves that grow point by point."""

from functools import partial

import streamlit as st
import torch

from explainers.device import device_name
from explainers.lessons.kv_cache.costs import both_ways
from explainers.lessons.kv_cache.stopwatch import (
    RUNS,
    Timed,
    lengths_on,
    random_layers,
    timed,
    trained_toy,
)
from explainers.lessons.measuring import Measuring
from explainers.lessons.watched import button, start, watch
from explainers.ui import length_controls
from explainers.ui.language import said, translated
from explainers.ui.picture import show_chart
from explainers.ui.prose import Prose
from explainers.ui.provenance import measured

JOB = "timing of the cache"
READINGS = dict(zip(length_controls.timed.options, (trained_toy, random_layers), strict=True))


def show_timing(text: Prose, device: torch.device) -> None:
    """What was measured in this visit, or the button to do it."""
    text("timing", longest=f"{lengths_on(device)[-1]:,}", device=device_name(device))
    name = length_controls.timed()
    is_running = button(JOB, said("Measure it here"), _start, name, device, icon=":material/timer:")
    job: Measuring[Timed] | None = st.session_state.get(JOB)
    if job and (is_running or job.asked == name):
        watch(
            JOB,
            job,
            translated(f"{job.asked}"),
            partial(_said, job),
            partial(_show, text, job, device),
        )


def _start(name: str, device: torch.device) -> None:
    """A callback: the page is drawn afterwards."""
    lengths = lengths_on(device)
    start(JOB, name, lambda: Measuring(len(lengths), lambda: timed(READINGS[name](), lengths)))


def _said(job: Measuring[Timed]) -> str:
    return said("length {done} of {steps}", done=len(job.found), steps=job.steps)


def _show(text: Prose, job: Measuring[Timed], device: torch.device) -> None:
    """The curves as far as they go; in the end, what they come to."""
    is_done, found = job.state == "done", list(job.found)
    if found:
        _show_times(found, translated(f"{job.asked}"), device)
    if is_done:
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


def _show_times(found: list[Timed], name: str, device: torch.device) -> None:
    import pandas as pd

    from explainers.charts.curve import Axis, curve  # a page is there before it needs altair

    series = both_ways()
    points = [(one.length, 1000 * one.cached, series[0], False) for one in found]
    points += [(one.length, 1000 * one.recomputed, series[1], False) for one in found]
    rows = pd.DataFrame(points, columns=["x", "y", "series", "reference"])
    last = found[-1]
    alt = said(
        "Milliseconds for one more token at {length:,} words: {cached:.2f} with the cache, "
        "{recomputed:.2f} without.",
        length=last.length,
        cached=1000 * last.cached,
        recomputed=1000 * last.recomputed,
    )
    axes = {
        "x": Axis(said("words before and with it"), logarithmic=True),
        "y": Axis(said("ms per word"), logarithmic=True),
    }
    origin = measured(said("{name}, the fastest of {runs} runs", name=name, runs=RUNS), device)
    show_chart(curve, rows, alt, "timing", origin, series=series, **axes)
