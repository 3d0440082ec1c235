"""32,768 tokens of one head: row totals, a window of 512 × 512, an overview, and their memory."""

import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor

from benchmarks import report
from explainers.attention.weight_windows import overview, row_totals, window
from explainers.chapters.long_sequences.measurement import measure_peak
from explainers.memory.sizes import format_size

CPU = torch.device("cpu")
LENGTHS, HEAD_DIM, BLOCK, SIDE = (2_048, 8_192, 32_768), 64, 512, 512


def seconds(run: Callable[[], Tensor], runs: int) -> tuple[float, float]:
    """Medians by the clock, and of what the process itself computed: neighbours lengthen one."""
    found = []
    for _ in range(runs):
        began, computed = time.perf_counter(), time.process_time()
        run()
        found.append((time.perf_counter() - began, time.process_time() - computed))
    by_clock, by_core = (statistics.median(times) for times in zip(*found, strict=True))
    return by_clock, by_core


def row(length: int, runs: int) -> str:
    """One length: times, and the most memory that is held beside Q and K, as a multiple."""
    random = torch.Generator().manual_seed(length)
    query, key = 3 * torch.randn(2, length, HEAD_DIM, generator=random)
    totals, given = row_totals(query, key, BLOCK, is_causal=True), query.nbytes + key.nbytes
    sides = slice(length - SIDE, length), slice(length // 4, length // 4 + SIDE)
    ways: list[Callable[[], Tensor]] = [
        lambda: row_totals(query, key, BLOCK, is_causal=True),
        lambda: overview(query, key, totals, BLOCK, is_causal=True),
        lambda: window(query, key, totals, *sides, is_causal=True),
    ]
    of_totals, of_overview, of_window = (seconds(way, runs) for way in ways)
    peak = max(measure_peak(way, CPU) or 0 for way in ways)
    held = given + totals.nbytes + peak
    return (
        f" {length:,} | {of_totals[0]:.2f} | {of_totals[1]:.2f} | {of_overview[0]:.2f} "
        f"| {of_overview[1]:.2f} | {1000 * of_window[0]:.1f} "
        f"| {format_size(given)} | {held / given:.2f} | {format_size(4 * length**2)} "
    )


def measure(runs: int) -> str:
    """The report's section."""
    torch.set_num_threads(1)  # as on the pages
    before = report.load()
    rows = [row(length, runs) for length in LENGTHS]
    remarks = (
        f"One causal head, d_k {HEAD_DIM}, float32, one thread, random Q and K, medians of {runs} "
        f"runs, tiles of {BLOCK} × {BLOCK}. Held is Q, K, the totals and the most that any of the "
        f"three computations takes at one time. “Its core” is the time "
        f"that the process itself computed. Aims at 32,768: overview ≤ 3 s, window of {SIDE} × "
        f"{SIDE} ≤ 200 ms, held ≤ 2 × (Q + K). Load of the machine before and after: "
        f"{before:.1f}, {report.load():.1f}."
    )
    head = (
        " tokens | totals, s | its core | overview, s | its core | window, ms "
        "| Q + K | held ÷ (Q + K) | n² weights "
    )
    return report.section("Windows of long texts", None, remarks, head, rows)


if __name__ == "__main__":
    chosen = report.options(__doc__, 3, "runs")
    report.publish(measure(chosen.runs), chosen.write)
