"""The KV cache: what it prints and draws is what a cache does, whatever a link asks for."""

from contextlib import ExitStack
from functools import partial
from unittest.mock import patch

import pytest

from explainers.attention import masks
from explainers.attention.cache import decoding, kv_cache
from explainers.attention.cache.decoding import recompute, through
from explainers.chapters.kv_cache.hero import compute_numbers
from explainers.chapters.kv_cache.reading import draw_text, read_text
from explainers.toys.sentence import SENTENCE

TOKENS = tuple(SENTENCE.split())


def count_rows(run, call):
    """How many rows each layer really projects while something is computed."""
    made, own = [0] * len(run.layers), kv_cache.project_at

    def counted(x, layer, position, **base):
        made[next(n for n, one in enumerate(run.layers) if one is layer)] += x.shape[-2]
        return own(x, layer, position, **base)

    with ExitStack() as stack:
        for module in (kv_cache, decoding):
            stack.enter_context(patch.object(module, "project_at", counted))
        return call(), made


@pytest.mark.parametrize("run", [read_text(TOKENS, 3), draw_text(("one",), 3)], ids=type)
def test_rows_are_counted_as_they_are_computed(run):
    steps, caches = compute_numbers(run)["steps"], run.empty
    reader = run.make_reader(masks.causal)
    for n, token in enumerate(run.x.split(1, dim=-2)):
        done, kept = count_rows(run, partial(through, token, run.layers, caches, reader))
        caches = [one.cache for one in done.reads]
        _, again = count_rows(run, partial(recompute, run.x[: n + 1], run.layers))
        for layer, cache in enumerate(caches):
            assert steps[n]["computed"] == [kept[layer], again[layer]]
            assert steps[n]["read"] == cache.key.shape[-2] - kept[layer]
            stored = sum(part.numel() * part.element_size() for part in cache[:2])
            assert steps[n]["bytes"] == stored
        assert steps[n]["difference"] == 0
