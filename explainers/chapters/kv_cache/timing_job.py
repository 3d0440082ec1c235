"""The time of one more token, with a cache and without, measured in the background."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.cache.decoding import Reader, read_added, through
from explainers.attention.cache.kv_cache import empty_cache
from explainers.attention.layer import MultiHead
from explainers.chapters.common.background_job import offer_job, watch_job
from explainers.chapters.kv_cache.cost_curves import name_both_ways
from explainers.chapters.kv_cache.reading import CAUSAL, LAYERS
from explainers.device import describe_device
from explainers.job_queue import Job, report_each
from explainers.toys import examples
from explainers.toys.layers import SEEDS, Configuration, load_heads
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import show_chart
from explainers.ui.provenance import measured_times
from explainers.ui.session import TIMING_JOB

TOY = Configuration(num_heads=4, num_kv_heads=4, head_dim=16, rule="causal")
D_MODEL, HEADS, HEAD_DIM = 256, 4, 64
RUNS = 5
LENGTHS = tuple(2**power for power in range(4, 11))
MORE_LENGTHS = (*LENGTHS, 2_048, 4_096)
"""On an accelerator. The largest matrices of one layer then hold 4 · 4,096² numbers: 256 MiB."""


@dataclass(frozen=True)
class TimedLayers:
    """Layers, how they read with a cache, and a vector for each word of a vocabulary."""

    layers: list[MultiHead]
    reader: Reader
    words: Tensor

    def repeat_words(self, length: int) -> Tensor:
        """So many words (length, d_model), the vocabulary again and again."""
        return self.words[torch.arange(length, device=self.words.device) % len(self.words)]


@dataclass(frozen=True)
class Timing:
    """Seconds for the last of `length` tokens, the fastest of some runs each."""

    length: int
    cached: float
    recomputed: float


TimingJob = Job[str, Timing, None]
"""Of the layers' name."""


def load_trained_toy() -> TimedLayers:
    """The shipped heads that learned to find related words behind a causal mask."""
    known = load_heads(TOY, SEEDS[0], "en")
    words, _unused = known.read_words(known.words)
    return TimedLayers([known.layer], partial(read_added, rule=masks.causal), words)


def draw_random_layers() -> TimedLayers:
    """Larger ones that have learned nothing: which numbers they multiply takes no time."""
    seeds = range(LAYERS)
    layers = [examples.random_heads(D_MODEL, HEADS, HEADS, HEAD_DIM, seed) for seed in seeds]
    words = examples.draw_embeddings(tuple(map(str, range(64))), D_MODEL, 0)
    return TimedLayers(layers, CAUSAL, words)


def list_timed_lengths(device: torch.device) -> tuple[int, ...]:
    """How long the texts get: on a CPU the last one takes some tenths of a second each time."""
    return LENGTHS if device.type == "cpu" else MORE_LENGTHS


def time_reading(timed: TimedLayers, lengths: Sequence[int]) -> Iterator[Timing | None]:
    """Read all but the last token; then time the last one, and everything once more.

    None is yielded in between, where one may stop.
    """
    layers, reader = timed.layers, timed.reader
    for length in lengths:
        x = timed.repeat_words(length)
        empty = [empty_cache(x, layer) for layer in layers]
        prompt = through(x[:-1], layers, empty, reader)
        caches = [done.cache for done in prompt.reads]
        yield None
        cached = measure_fastest(partial(through, x[-1:], layers, caches, reader), x.device)
        yield None
        recomputed = measure_fastest(partial(through, x, layers, empty, reader), x.device)
        yield Timing(length, cached, recomputed)


def measure_fastest(call: Callable[[], object], device: torch.device) -> float:
    """After one run that warms up. Other visitors get the interpreter between two runs."""
    seconds = []
    for _unused in range(RUNS + 1):
        _settle(device)
        started = time.perf_counter()
        call()
        _settle(device)
        seconds.append(time.perf_counter() - started)
        time.sleep(min(seconds[-1], 0.1))
    return min(seconds[1:])


def _settle(device: torch.device) -> None:
    """An accelerator answers before it has finished."""
    if device.type != "cpu":
        torch.accelerator.synchronize(device)


TIMED_LAYERS = dict(
    zip(controls.timed_layers.options, (load_trained_toy, draw_random_layers), strict=True)
)


def describe_plan(device: torch.device) -> dict[str, str]:
    """What will be measured, for a text."""
    return {"longest": f"{list_timed_lengths(device)[-1]:,}", "device": describe_device(device)}


def show_timing(device: torch.device, tell: Callable[..., None]) -> None:
    """What was measured in this visit, or the button to do it; `tell` says what it comes to."""
    name = controls.timed_layers()
    lengths = list_timed_lengths(device)
    work = report_each(lambda: time_reading(TIMED_LAYERS[name](), lengths))
    all_lengths = Job(name, work, len(lengths))
    job = offer_job(TIMING_JOB, _("Measure it here"), all_lengths, icon=":material/timer:")
    if job:
        watch_job(TIMING_JOB, job, _(job.subject), partial(_show, job, device, tell), _describe)


def _describe(job: TimingJob) -> str:
    return _("length {done} of {steps}", done=len(job.reports), steps=job.total)


def _show(job: TimingJob, device: torch.device, tell: Callable[..., None]) -> None:
    """The curves as far as they go; in the end, what they come to."""
    is_done, found = job.state == "done", list(job.reports)
    if found:
        _show_times(found, _(job.subject), device)
    if is_done:
        first, last = found[0], found[-1]
        tell(
            length=f"{last.length:,}",
            cached=f"{1000 * last.cached:.2f}",
            recomputed=f"{1000 * last.recomputed:.1f}",
            ratio=f"{last.recomputed / last.cached:.0f}",
            first=first.length,
            first_ratio=f"{first.recomputed / first.cached:.1f}",
        )


def _show_times(found: list[Timing], name: str, device: torch.device) -> None:
    import pandas as pd

    from explainers.charts.curves import Axis, draw_curve

    series = name_both_ways()
    points = [(one.length, 1000 * one.cached, series[0], False) for one in found]
    points += [(one.length, 1000 * one.recomputed, series[1], False) for one in found]
    rows = pd.DataFrame(points, columns=["x", "y", "series", "reference"])
    last = found[-1]
    alt = _(
        "Milliseconds for one more token at {length:,} words: {cached:.2f} with the cache, "
        "{recomputed:.2f} without.",
        length=last.length,
        cached=1000 * last.cached,
        recomputed=1000 * last.recomputed,
    )
    axes = {
        "x": Axis(_("words before and with it"), is_logarithmic=True),
        "y": Axis(_("ms per word"), is_logarithmic=True),
    }
    origin = measured_times(_("{name}, the fastest of {runs} runs", name=name, runs=RUNS), device)
    show_chart(draw_curve, rows, alt, "timing", origin, series=series, **axes)
