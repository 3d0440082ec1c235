"""The time that one more token takes, with a cache and without one, on the present device."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from explainers import examples, trained
from explainers.attention import masks
from explainers.attention.cache import empty_cache
from explainers.attention.cache_added import read_added
from explainers.attention.decoding import Reader, through
from explainers.attention.layer import MultiHead
from explainers.lessons.kv_cache.reading import CAUSAL, LAYERS
from explainers.trained import Configuration

TOY = Configuration(num_heads=4, num_kv_heads=4, head_dim=16, rule="causal")
D_MODEL, HEADS, HEAD_DIM = 256, 4, 64
RUNS = 5
LENGTHS = tuple(2**power for power in range(4, 11))
MORE_LENGTHS = (*LENGTHS, 2_048, 4_096)
"""On an accelerator. The largest matrices of one layer then hold 4 · 4,096² numbers: 256 MiB."""


@dataclass(frozen=True)
class Reading:
    """Layers, how they read with a cache, and a vector for each word of a vocabulary."""

    layers: list[MultiHead]
    reader: Reader
    words: Tensor

    def text(self, length: int) -> Tensor:
        """So many words (length, d_model), the vocabulary again and again."""
        return self.words[torch.arange(length, device=self.words.device) % len(self.words)]


@dataclass(frozen=True)
class Timed:
    """Seconds for the last of `length` tokens, the fastest of some runs each."""

    length: int
    cached: float
    recomputed: float


def trained_toy() -> Reading:
    """The shipped heads that learned to find related words behind a causal mask."""
    known = trained.learned(TOY, trained.SEEDS[0])
    words, _ = trained.embedded(known.words, known)
    return Reading([known.layer], partial(read_added, rule=masks.causal), words)


def random_layers() -> Reading:
    """Larger ones that have learned nothing: which numbers they multiply takes no time."""
    seeds = range(LAYERS)
    layers = [examples.random_layer(D_MODEL, HEADS, HEADS, HEAD_DIM, seed) for seed in seeds]
    words = examples.embeddings(tuple(map(str, range(64))), D_MODEL, 0)
    return Reading(layers, CAUSAL, words)


def lengths_on(device: torch.device) -> tuple[int, ...]:
    """How long the texts get: on a CPU the last one takes some tenths of a second each time."""
    return LENGTHS if device.type == "cpu" else MORE_LENGTHS


def timed(reading: Reading, lengths: Sequence[int]) -> Iterator[Timed | None]:
    """Read all but the last token; then time the last one, and everything once more.

    None is yielded in between, where one may stop.
    """
    layers, reader = reading.layers, reading.reader
    for length in lengths:
        x = reading.text(length)
        empty = [empty_cache(x, layer) for layer in layers]
        prompt = through(x[:-1], layers, empty, reader)
        caches = [done.cache for done in prompt.reads]
        yield None
        cached = fastest_seconds(partial(through, x[-1:], layers, caches, reader), x.device)
        yield None
        recomputed = fastest_seconds(partial(through, x, layers, empty, reader), x.device)
        yield Timed(length, cached, recomputed)


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
