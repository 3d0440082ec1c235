"""Tiled attention against plain attention, and plain attention against torch's, on the CPU.

Each way has a process of its own, because the most memory that a process ever held cannot be
forgotten; the ways take turns, so that whatever else the machine does meets all of them alike.
Memory is read from /proc, which Linux has.

On a GPU, the tiled kernel against torch's fused one. `--turns 0` measures nothing else.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from benchmarks import report
from explainers.attention import masks
from explainers.attention.kernel_inputs import choose_sides
from explainers.attention.scaled_dot_product import attention
from explainers.attention.tile_list import list_tiles
from explainers.attention.tiled import tiled_attention
from explainers.chapters.long_sequences.measurement import choose_blocks
from explainers.memory.cache_formula import format_size

ROOT = Path(__file__).parents[1]
CPU = torch.device("cpu")
LONG, SHORT, HEADS, HEAD_DIM = 16_384, 2_048, 8, 64
RUNS = 5
"""Of the short text, in one process; the fastest counts."""
GPU_HEADS, GPU_RUNS, GPU_WAYS = 16, 20, ("kernel", "fused")
"""Runs of a turn follow each other without a pause, as the layers of a model do."""


def prepared(way: str, length: int, rule: str) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """One way to compute attention; a mask, where one is needed, is made beforehand."""
    if way == "tiled":
        tiles = choose_blocks(CPU)
        return lambda query, key, value: tiled_attention(
            query, key, value, masks.RULES[rule], *tiles
        )
    if way == "fused":
        return F.scaled_dot_product_attention
    mask = masks.build(masks.RULES[rule], length, length)
    if way == "plain":
        return lambda query, key, value: attention(query, key, value, mask).output
    return lambda query, key, value: F.scaled_dot_product_attention(
        query, key, value, attn_mask=mask
    )


@torch.no_grad()
def one(way: str, length: int, heads: int, rule: str) -> dict[str, float]:
    """Seconds and extra bytes of one way; called in a process of its own."""
    torch.set_num_threads(1)  # as on the pages
    with sdpa_kernel(SDPBackend.MATH) if way == "math" else nullcontext():
        prepared(way, 8, rule)(*(torch.randn(1, 1, 8, HEAD_DIM) for _ in range(3)))
        run = prepared(way, length, rule)
        given = [torch.randn(1, heads, length, HEAD_DIM) for _ in range(3)]
        Path("/proc/self/clear_refs").write_text("5")  # the most so far is what there is now
        before = resident("VmHWM")
        taken = []
        for _ in range(1 if length == LONG else RUNS):
            started = time.perf_counter()
            run(*given)
            taken.append(time.perf_counter() - started)
    return {"seconds": min(taken), "bytes": resident("VmHWM") - before}


def resident(name: str) -> int:
    """Memory of this process as Linux counts it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def apart(*asked: object) -> dict[str, float]:
    """`one(*asked)` in a new process."""
    command = [sys.executable, "-m", "benchmarks.attention", "--one", *map(str, asked)]
    found = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return json.loads(found.stdout)


def measure(turns: int) -> str:
    """The report's section."""
    asked = [(way, LONG, 1, "full") for way in ("plain", "tiled", "fused")]
    asked += [("tiled", LONG, 1, "causal")]
    asked += [(way, SHORT, HEADS, "causal") for way in ("plain", "math", "tiled")]
    found: dict[tuple[str, int, int, str], list[dict[str, float]]] = {each: [] for each in asked}
    for _ in range(turns):
        for each in asked:
            found[each].append(apart(*each))
    rows = []
    for (way, length, heads, rule), runs in found.items():
        plain = next(found[each] for each in asked if each[:2] == ("plain", length))
        seconds, held = (statistics.median(run[what] for run in runs) for what in runs[0])
        of_seconds, of_bytes = (
            statistics.median(
                run[what] / other[what] for run, other in zip(runs, plain, strict=True)
            )
            for what in runs[0]
        )
        rows.append(
            f" {way}, {rule} | {length:,} | {heads} | {seconds:.3f} | {of_seconds:.2f} "
            f"| {format_size(int(held))} | {of_bytes:.1%} "
        )
    tile = " × ".join(map(str, choose_blocks(CPU)))
    return report.section(
        "Attention",
        None,
        f"One thread, d_k {HEAD_DIM}, float32, tiles of {tile}: medians of {turns} turns, in each "
        f"of which every way runs in a process of its own. Memory is the most that the process "
        f"held while it ran, less what it held before (its inputs and, for plain and math, the "
        f"mask; tiled never has one). Aims: tiled, full ÷ plain, full: memory ≤ 3 %, time ≤ 1.5; "
        f"plain of {SHORT:,} tokens and {HEADS} heads ≤ 1.3 of math's time: math ÷ plain ≥ 0.77.",
        " way, mask | tokens | heads | seconds | ÷ plain | memory | ÷ plain ",
        rows,
    )


@torch.no_grad()
def measure_gpu(turns: int) -> str:
    """The kernel's section."""
    rows = []
    for head_dim in (64, 128):
        what = f"causal, d_k {head_dim} | {LONG:,} | {GPU_HEADS}"
        if not torch.cuda.is_available():
            rows += [f" {way}, {what} | not measured: no GPU | – | – " for way in GPU_WAYS]
            continue
        given = torch.randn(3, 1, GPU_HEADS, LONG, head_dim, device="cuda").bfloat16().unbind()
        found = {way: seconds_on_gpu(prepared_on_gpu(way, *given), turns) for way in GPU_WAYS}
        work = 4 * LONG**2 // 2 * head_dim * GPU_HEADS  # two products, and half of their cells
        for way, taken in found.items():
            share, speed = found["fused"] / taken, work / taken / 1e12
            rows.append(f" {way}, {what} | {1000 * taken:.2f} | {speed:.0f} | {share:.2f} ")
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "none here"
    return report.section(
        "Attention on a GPU",
        None,
        f"GPU: {device}. bfloat16; medians of turns of {GPU_RUNS} runs. The list of tiles is made "
        "beforehand, as a model makes it once for all layers. Aim: kernel ÷ fused ≥ 0.7.",
        " way, mask | tokens | heads | milliseconds | TFLOP/s | throughput ÷ fused ",
        rows,
    )


def prepared_on_gpu(way: str, query: Tensor, key: Tensor, value: Tensor) -> Callable[[], Tensor]:
    """One of GPU_WAYS, causal."""
    if way == "fused":
        return lambda: F.scaled_dot_product_attention(query, key, value, is_causal=True)
    from explainers.attention.tiled_kernel import kernel_attention

    with torch.device(query.device):
        tiles = list_tiles(masks.causal, LONG, LONG, *choose_sides(query))
    return lambda: kernel_attention(query, key, value, tiles)


def seconds_on_gpu(run: Callable[[], Tensor], turns: int) -> float:
    """Of one run, by the GPU's own clock."""
    make: Any = torch.cuda.Event  # it has no annotations
    run()  # compiles
    found = []
    for _ in range(max(turns, RUNS)):
        start, end = (make(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(GPU_RUNS):
            run()
        end.record()
        torch.cuda.synchronize()
        found.append(start.elapsed_time(end) / 1000 / GPU_RUNS)
    return statistics.median(found)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        way, length, heads, rule = sys.argv[2:]
        print(json.dumps(one(way, int(length), int(heads), rule)))
    else:
        arguments = report.options(__doc__, 3, "turns")
        if arguments.turns:
            report.publish(measure(arguments.turns), arguments.write)
        report.publish(measure_gpu(arguments.turns), arguments.write)
