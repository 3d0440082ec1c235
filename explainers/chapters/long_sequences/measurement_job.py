"""The measurement on this machine: button, progress, and points over the line of theory."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from explainers.chapters.common.background_job import describe_reports, offer_job, watch_job
from explainers.chapters.long_sequences.matrix_sizes import count_plain_bytes, count_tiled_bytes
from explainers.chapters.long_sequences.measurement import (
    HEAD_DIM,
    WAYS,
    WayMeasurement,
    choose_blocks,
    list_measured_lengths,
    list_ways,
    measure_ways,
)
from explainers.device import choose_device, describe_device
from explainers.job_queue import Job, report_each
from explainers.memory.sizes import format_size
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.provenance import measured_times as measured_live
from explainers.ui.session import MEASUREMENT_JOB

if TYPE_CHECKING:
    import pandas as pd


UNKNOWN = "–"
MeasurementJob = Job[int, WayMeasurement, None]
"""Of the longest text."""
Point = tuple[int, float, str, bool]
"""Tokens, an amount, the way that it was measured for, and whether it is theory's."""


def list_times(found: list[WayMeasurement]) -> list[Point]:
    """Milliseconds; theory's line rises with n² and goes through plain attention's last point."""
    points = [(m.length, m.seconds * 1000, m.way, False) for m in found if m.seconds is not None]
    plain = [(length, taken) for length, taken, way, _unused in points if way == WAYS[0]]
    if plain:
        length, taken = plain[-1]
        points += [(m, taken * (m / length) ** 2, WAYS[0], True) for m, *_unused in points]
    return points


def list_peaks(found: list[WayMeasurement]) -> list[Point]:
    """MiB; the lines of theory are not fitted to anything."""
    points = [(m.length, m.peak / 2**20, m.way, False) for m in found if m.peak is not None]
    if points:
        for n in sorted({one.length for one in found}):
            points.append((n, count_plain_bytes(n, HEAD_DIM) / 2**20, WAYS[0], True))
            tiled = count_tiled_bytes(n, HEAD_DIM, *choose_blocks(choose_device()))
            points.append((n, tiled / 2**20, WAYS[1], True))
    return points


def write_table(
    found: list[WayMeasurement],
    cells: Callable[[list[WayMeasurement]], list[str]],
    all_ways: Sequence[str] = WAYS,
) -> str:
    """A row for each length: what `cells` says of the ways, as far as they were measured."""
    rows = []
    for length in sorted({one.length for one in found}):
        known = {one.way: one for one in found if one.length == length}
        ways = [known.get(way, WayMeasurement(way, length)) for way in all_ways]
        rows.append(f"| {length:,} | " + " | ".join(cells(ways)) + " |")
    return "\n".join(rows)


def write_seconds(ways: list[WayMeasurement]) -> list[str]:
    """Seconds of each way."""
    return [UNKNOWN if one.seconds is None else f"{one.seconds:.4f}" for one in ways]


def write_bytes(ways: list[WayMeasurement]) -> list[str]:
    """The most bytes that each way took."""
    return [UNKNOWN if one.peak is None else format_size(one.peak) for one in ways]


def write_differences(ways: list[WayMeasurement]) -> list[str]:
    """The largest of any way from the first that fitted."""
    differences = [one.difference for one in ways[1:] if one.difference is not None]
    return [f"{max(differences):.2g}" if differences else UNKNOWN]


Remark = Callable[[dict[str, object]], None]
"""How the page says what was measured."""


def show_measuring(remark: Remark, longest: int) -> None:
    """A button, and what measuring comes to while one looks on."""
    label = _("Measure on this machine")
    lengths = list_measured_lengths(longest)
    work = report_each(lambda: measure_ways(lengths, choose_device()))
    all_ways = Job(longest, work, len(list_ways(choose_device())) * len(lengths))
    offer_job(MEASUREMENT_JOB, label, all_ways, icon=":material/timer:")
    job: MeasurementJob | None = st.session_state.get(MEASUREMENT_JOB)
    if job:  # up to another length it is still worth seeing
        title = _("Up to {count:,} tokens", count=job.subject)
        watch_job(MEASUREMENT_JOB, job, title, partial(_show, remark, job), _describe)


def _describe(job: MeasurementJob) -> str:
    """How much was measured, and what last."""
    found, done = list(job.reports), describe_reports(job)
    if not found:
        return done
    way, length = found[-1].way, found[-1].length
    last = _("{way} attention, {length:,} tokens", way=way, length=length)
    return f"{done}, {last}"


def _show(remark: Remark, job: MeasurementJob) -> None:
    if found := list(job.reports):
        remark(show_measurements(found))


def show_measurements(found: list[WayMeasurement]) -> dict[str, object]:
    """Points over theory's lines; every number for the table of a text."""
    from explainers.charts.curves import Axis, draw_curve

    device = choose_device()
    all_ways = list_ways(device)
    what = _("full attention, one head, d_k {head_dim}, float32", head_dim=HEAD_DIM)
    origin = measured_live(what, device)
    tokens = Axis(N_("tokens n"), True, tuple(sorted({one.length for one in found})))
    left, right = st.columns(2)
    for column, points, unit in (
        (left, list_times(found), N_("milliseconds")),
        (right, list_peaks(found), "MiB"),
    ):
        if points:
            alt = _(
                "{unit} against tokens, both axes in powers of 2, for {ways} attention.",
                unit=_(unit),
                ways=", ".join(all_ways),
            )
            axes = {"x": tokens, "y": Axis(unit, is_logarithmic=True)}
            with column:
                show_chart(
                    draw_curve,
                    _make_rows(points),
                    alt,
                    f"measured {unit}",
                    origin,
                    series=all_ways,
                    **axes,
                )
    largest = max((one.difference for one in found if one.difference is not None), default=0.0)
    q_block, kv_block = choose_blocks(device)
    return {
        "device": describe_device(device),
        "ways": " | ".join(all_ways),
        "columns": "---:|" * len(all_ways),
        "times": write_table(found, write_seconds, all_ways),
        "sizes": write_table(found, write_bytes, all_ways),
        "differences": write_table(found, write_differences, all_ways),
        "largest": f"{largest:.2g}",
        "q_block": f"{q_block:,}",
        "kv_block": f"{kv_block:,}",
    }


def _make_rows(points: list[Point]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(points, columns=["x", "y", "series", "reference"])
