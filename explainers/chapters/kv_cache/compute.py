"""What the page's files compute again: a text read with a cache, mistakes, costs, windows."""

from typing import Any

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.cache.faults import append_after, drop_row, forget_offset
from explainers.attention.cache.kv_cache import empty_cache, read
from explainers.attention.cache.step_costs import cache_bytes, with_cache, without_cache
from explainers.attention.cache.windows import slot_of
from explainers.attention.layer import MultiHead
from explainers.chapters.kv_cache.reading import (
    CAUSAL,
    D_MODEL,
    HEAD_DIM,
    LAYERS,
    DecodedText,
    make_reader,
)
from explainers.messages import N_
from explainers.toys import examples

WINDOW = 3
"""Of the mistake with a window: this wide it should be."""
FORGOTTEN, DROPPED = N_("no offset"), N_("row lost")
AFTER, SMALL = N_("too late"), N_("window − 1")


def measure_differences(run: DecodedText) -> dict[str, Tensor]:
    """Of each mistake, by word, the largest difference from what would be right (tokens,)."""
    right, windowed = (
        run.compute_outputs(CAUSAL),
        run.compute_outputs(make_reader(masks.sliding_window(WINDOW))),
    )
    wrong = {
        FORGOTTEN: (run.compute_outputs(forget_offset), right),
        DROPPED: (run.compute_outputs(drop_row), right),
        AFTER: (run.compute_outputs(append_after), right),
        SMALL: (run.compute_ring_outputs(WINDOW - 1, sinks=0), windowed),
    }
    return {name: (a - b).abs().amax(dim=-1) for name, (a, b) in wrong.items()}


def read_words(run: DecodedText, words: int) -> dict[str, Any]:
    """What each layer keeps after some words, and how far that is from computing all again.

    The first difference is between products of the same shapes, so it is exactly 0.
    """
    found: dict[str, Any] = {
        "cached − recomputed": max(run.row_by_row),
        "outputs": torch.cat([step.output for step in run.steps]),
    }
    for number, done in enumerate(run.steps[words - 1].reads, start=1):
        found[f"layer {number}: K"] = done.cache.key[0]
        found[f"layer {number}: V"] = done.cache.value[0]
        found[f"layer {number}: weights"] = done.weights[0]
    return found


def read_in_one_head(x: Tensor, layer: MultiHead, longest: float, words: int) -> dict[str, Tensor]:
    """What one head of a model keeps after some words, of the vectors that its layer read."""
    cache = empty_cache(x, layer)
    for word in range(words):
        done = read(x[word : word + 1], layer, cache, masks.causal, longest)
        cache = done.cache
    return {"K": cache.key[0], "V": cache.value[0], "weights": done.weights[0]}


def measure_mistakes(run: DecodedText) -> dict[str, Tensor]:
    """How wrong each word's output is, a row for each mistake."""
    return {"wrong": torch.stack([*measure_differences(run).values()])}


def make_counted_layer() -> MultiHead:
    """A layer of one head, of which the work is counted and the cache is weighed."""
    return examples.random_heads(D_MODEL, 1, 1, HEAD_DIM, 0)


def count_costs(lengths: list[int]) -> dict[str, list[int]]:
    """The work of one layer, and the bytes that all layers hold, by the length of the text."""
    layer = make_counted_layer()
    kept, again = ([count(n, layer) for n in lengths] for count in (with_cache, without_cache))
    return {
        "rows with the cache": [work.rows for work in kept],
        "rows without": [work.rows for work in again],
        "scores with the cache": [work.scores for work in kept],
        "scores without": [work.scores for work in again],
        "bytes held": [LAYERS * cache_bytes(n, layer) for n in lengths],
    }


def compare_bounded_caches(run: DecodedText, window: int, sinks: int) -> dict[str, Tensor]:
    """How far each word's output is from full causal attention: a ring, and sinks with a ring."""
    full = run.read_at_once(len(run.tokens), masks.causal).output
    caches = run.compute_ring_outputs(window, 0), run.compute_ring_outputs(sinks + window, sinks)
    return {"lost": torch.stack([(each - full).abs().amax(dim=-1) for each in caches])}


def trace_slots(words: int, sinks: int, window: int) -> list[list[float | None]]:
    """A row per slot, a column per word read: the number of the word whose row stands there."""
    held: list[float | None] = [None] * (sinks + window)
    columns = []
    for word in range(words):
        held[slot_of(word, sinks, window)] = word + 1.0
        columns.append(list(held))
    return [list(row) for row in zip(*columns, strict=True)]
