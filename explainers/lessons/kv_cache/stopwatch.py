"""The time that one more token takes, with a cache and without one, on the present device."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import torch

from explainers import examples
from explainers.attention.cache import empty_cache
from explainers.attention.decoding import through
from explainers.lessons.kv_cache.written import CAUSAL, LAYERS

D_MODEL, HEADS, HEAD_DIM = 256, 4, 64
RUNS = 5
LENGTHS = tuple(2**power for power in range(4, 11))
MORE_LENGTHS = (*LENGTHS, 2_048, 4_096)
"""On an accelerator. The largest matrices of one layer then hold 4 · 4,096² numbers: 256 MiB."""


@dataclass(frozen=True)
class Timed:
    """Seconds for the last of `length` tokens, the fastest of some runs each."""

    length: int
    cached: float
    recomputed: float


def lengths_on(device: torch.device) -> tuple[int, ...]:
    """How long the texts get: on a CPU the last one takes some tenths of a second each time."""
    return LENGTHS if device.type == "cpu" else MORE_LENGTHS


def timed(lengths: Sequence[int]) -> Iterator[Timed]:
    """Read all but the last token; then time the last one, and everything once more."""
    layers = [
        examples.random_layer(D_MODEL, HEADS, HEADS, HEAD_DIM, seed) for seed in range(LAYERS)
    ]
    words = examples.embeddings(tuple(map(str, range(64))), D_MODEL, 0)
    for length in lengths:
        x = words[torch.arange(length, device=words.device) % len(words)]
        empty = [empty_cache(x, layer) for layer in layers]
        prompt = through(x[:-1], layers, empty, CAUSAL)
        caches = [done.cache for done in prompt.reads]
        yield Timed(
            length,
            fastest_seconds(partial(through, x[-1:], layers, caches, CAUSAL), x.device),
            fastest_seconds(partial(through, x, layers, empty, CAUSAL), x.device),
        )


def fastest_seconds(call: Callable[[], object], device: torch.device) -> float:
    """After one run that warms up. Other visitors get the interpreter between two runs."""
    seconds = []
    for _ in range(RUNS + 1):
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
