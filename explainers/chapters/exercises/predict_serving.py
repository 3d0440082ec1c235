"""Predict: what prompts share, what a change costs, and how often a draft is kept."""

from functools import partial
from random import Random

import torch

from explainers.attention import masks
from explainers.attention.cache.decoding import through
from explainers.attention.cache.kv_cache import empty_cache, read
from explainers.attention.serving.accept_drafts import keep_probability
from explainers.attention.serving.shared_prefix import changed_rows
from explainers.chapters.exercises.exercise_table import Prediction
from explainers.toys.examples import draw_embeddings, random_heads
from explainers.ui.text.numbers import PERCENT, write_percent


def rows_after_a_change(draw: Random) -> Prediction:
    """How many rows of K a layer must compute again when one token of a prompt changes."""
    tokens, layers = draw.randint(20, 60), draw.randint(2, 4)
    place = draw.randint(3, tokens - 8)
    counts = _count_changed_rows(tokens, place - 1, layers)
    given = {"tokens": f"{tokens}", "place": f"{place}", "layer": f"{layers}"}
    return Prediction(given, counts[-1], worked={"before": f"{place - 1}", "first": f"{counts[0]}"})


def _count_changed_rows(tokens: int, at: int, layers: int) -> list[int]:
    """In each of some untrained layers, if the token at this place is another one."""
    words = [f"w{place}" for place in range(tokens)]
    stack, keys = [random_heads(8, 1, 1, 8, seed) for seed in range(layers)], []
    for text in (words, [*words[:at], "another", *words[at + 1 :]]):
        x = draw_embeddings(tuple(text), 8, seed=0)
        caches = [empty_cache(x, layer) for layer in stack]
        reads = through(x, stack, caches, partial(read, rule=masks.causal)).reads
        keys.append([done.cache.key for done in reads])
    pairs = zip(*keys, strict=True)
    return [int(changed_rows(before, after, 1e-5).sum()) for before, after in pairs]


def kept_drafts(draw: Random) -> Prediction:
    """How often a drafted word is kept, in per cent."""
    draft, target = draw.choice([0.4, 0.5, 0.6, 0.8]), draw.choice([0.1, 0.2, 0.3])
    both = (torch.tensor([one, 1 - one]) for one in (draft, target))
    kept = round(100 * float(keep_probability(*both)[0]), 1)
    given = {"draft": write_percent(draft), "target": write_percent(target)}
    return Prediction(given, kept, tolerance=0.6, unit=PERCENT)
