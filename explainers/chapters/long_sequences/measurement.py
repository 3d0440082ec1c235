"""Time and memory of three ways to the same output, and our kernel, on the present device."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec

import streamlit as st
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from explainers.attention import masks
from explainers.attention.kernel_inputs import choose_sides
from explainers.attention.scaled_dot_product import attention
from explainers.attention.tile_list import list_tiles
from explainers.attention.tiled import tiled_attention
from explainers.chapters.common.background_job import describe_reports, offer_job, watch_job
from explainers.device import choose_device, describe_device
from explainers.folders import PACKAGE
from explainers.job_queue import Job, report_each
from explainers.memory.cache_formula import format_size
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.page import Prose
from explainers.ui.session import MEASUREMENT_JOB
from explainers.ui.text.numbers import bound_rounding


def measure_peak(run: Callable[[], object], device: torch.device) -> int | None:
    """The most bytes of tensors that exist at one time while `run` runs; None if unknown here.

    On a GPU its allocator has counted them. On the CPU, torch's profiler hears of every allocation
    of this thread, in order; libraries that torch calls may keep small buffers of their own.
    """
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        run()
        torch.cuda.synchronize(device)
        return torch.cuda.max_memory_allocated(device) - before
    if device.type != "cpu":
        return None
    with torch.autograd.profiler.profile(use_kineto=False, profile_memory=True) as profiler:
        run()
    now = most = 0
    for event in profiler.kineto_results.events():
        if event.name() == "[memory]":
            now += event.nbytes()
            most = max(most, now)
    return most


WAYS, KERNEL = ("plain", "tiled", "fused"), "kernel"
HEAD_DIM = 64
LENGTHS = 512, 1_024, 2_048
"""Tokens: plain attention takes 48 MiB for the longest."""
MOST_RUNS, LONG_ENOUGH = 5, 0.5
"""A way runs so often, or for so many seconds together; the fastest run counts."""


@dataclass(frozen=True)
class WayMeasurement:
    """One way at one length; `difference` is the largest from the output of plain attention."""

    way: str
    length: int
    seconds: float
    peak: int | None
    difference: float


def list_ways(device: torch.device) -> tuple[str, ...]:
    """All that can be measured: our kernel needs a GPU, and Triton, which is not always there."""
    return (*WAYS, KERNEL) if has_kernel(device) else WAYS


def has_kernel(device: torch.device) -> bool:
    """Can our kernel run?"""
    return device.type == "cuda" and find_spec("triton") is not None


def choose_blocks(device: torch.device) -> tuple[int, int]:
    """Queries and keys of a tile: small ones stay in a CPU's cache, a GPU has more to do."""
    return (256, 512) if device.type == "cpu" else (2_048, 4_096)


def prepare_call(way: str, length: int, device: torch.device) -> Callable[[], Tensor]:
    """A call that computes full attention over `length` tokens, one head, in float32."""
    random = torch.Generator().manual_seed(length)
    shape = 1, 1, length, HEAD_DIM  # torch's fused kernels want a batch and heads
    query, key, value = (torch.randn(shape, generator=random).to(device) for _ in range(3))
    if way == "plain":
        mask = masks.build(masks.full, length, length).to(device)
        return lambda: attention(query, key, value, mask).output
    if way == "tiled":
        return lambda: tiled_attention(query, key, value, masks.full, *choose_blocks(device))
    if way == KERNEL:
        from explainers.attention.tiled_kernel import kernel_attention  # few machines have Triton

        tiles = list_tiles(masks.full, length, length, *choose_sides(query))
        return lambda: kernel_attention(query, key, value, tiles)
    return lambda: F.scaled_dot_product_attention(query, key, value)


def time_call(run: Callable[[], object], device: torch.device) -> float:
    """The fastest of a few runs; a GPU is waited for before the clock is read."""
    found: list[float] = []
    while len(found) < MOST_RUNS and sum(found) < LONG_ENOUGH:
        wait_for(device)
        started = time.perf_counter()
        run()
        wait_for(device)
        found.append(time.perf_counter() - started)
    return min(found)


def wait_for(device: torch.device) -> None:
    """A GPU computes while Python goes on."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


@torch.no_grad()
def measure_ways(device: torch.device) -> Iterator[WayMeasurement | None]:
    """Every way at every length; None in between, where one may stop."""
    ways = list_ways(device)
    for way in ways:
        prepare_call(way, LENGTHS[0], device)()  # the first call of all loads libraries
    for length in LENGTHS:
        outputs: list[Tensor] = []
        for way in ways:
            run = prepare_call(way, length, device)
            peak = measure_peak(lambda: outputs.append(run()), device)  # noqa: B023
            difference = (outputs[-1] - outputs[0]).abs().max().item()
            yield None
            yield WayMeasurement(way, length, time_call(run, device), peak, difference)


MeasurementJob = Job[str, WayMeasurement, None]


def show_measuring(text: Prose) -> None:
    """A button, and what measuring comes to while one looks on."""
    device = choose_device()
    work = report_each(lambda: measure_ways(device))
    job = Job("", work, len(list_ways(device)) * len(LENGTHS))
    offer_job(MEASUREMENT_JOB, _("Measure on this machine"), job, icon=":material/timer:")
    running: MeasurementJob | None = st.session_state.get(MEASUREMENT_JOB)
    if running:
        show = partial(show_measurements, text, running, device)
        watch_job(MEASUREMENT_JOB, running, _("Measured"), show, describe_reports)


def show_measurements(text: Prose, job: MeasurementJob, device: torch.device) -> None:
    """A row for each length: milliseconds and most bytes of every way so far, where known."""
    if not (found := list(job.reports)):
        return
    ways, cells = list_ways(device), {}
    for one in found:
        size = "" if one.peak is None else f", {format_size(one.peak)}"
        cells[one.way, one.length] = f"{1000 * one.seconds:.2f} ms{size}"
    rows = [
        f"| {n:,} | " + " | ".join(cells.get((way, n), "–") for way in ways) + " |" for n in LENGTHS
    ]
    text(
        "measured",
        device=describe_device(device),
        ways=" | ".join(ways),
        columns="---:|" * len(ways),
        rows="\n".join(rows),
        largest=f"{max(one.difference for one in found):.2g}",
        head_dim=HEAD_DIM,
    )


KERNEL_FILE = PACKAGE / "attention" / "tiled_kernel.py"
"""Shown as a file: to import it, Triton must be there."""
KERNEL_CODE = "read_tiles", "kernel_attention"
RUNS = N_("runs on a GPU")
CHECKED = 1_024
"""Random tokens that our kernel and `attention` both read."""


def check_kernel(text: Prose) -> None:
    """Say how near our kernel comes to `attention`, or why it does not run here."""
    device = choose_device()
    named = {"device": describe_device(device), "tokens": f"{CHECKED:,}", "head_dim": f"{HEAD_DIM}"}
    if has_kernel(device):
        text("kernel_ran", **named, difference=bound_rounding(measure_difference(device)))
    else:
        text("kernel_missing" if device.type == "cuda" else "kernel_absent", **named)


@cache
@torch.no_grad()
def measure_difference(device: torch.device) -> float:
    """The largest of any number of the kernel's output from that of attention, in float32."""
    from explainers.attention.tiled_kernel import kernel_attention  # few machines have Triton

    random = torch.Generator().manual_seed(0)
    query, key, value = torch.randn(3, CHECKED, HEAD_DIM, generator=random).to(device).unbind()
    tiles = list_tiles(masks.causal, CHECKED, CHECKED, *choose_sides(query))
    mask = masks.build(masks.causal, CHECKED, CHECKED).to(device)
    output = kernel_attention(query, key, value, tiles)
    return (output - attention(query, key, value, mask).output).abs().max().item()
