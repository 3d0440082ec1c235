"""Reach a goal: settings are changed until a measured condition holds."""

from collections.abc import Iterator
from functools import partial
from random import Random

from explainers.attention import masks
from explainers.attention.multi_head import parameters
from explainers.attention.receptive_field import cells
from explainers.attention.scaled_dot_product import attention
from explainers.attention.scaling import with_temperature
from explainers.attention.single_head import project
from explainers.chapters.common.claim_parameters import Setting
from explainers.chapters.exercises.deck import Goal, GoalMeasurement, choose_fair_goal, format_bool
from explainers.memory.cache_formula import format_size
from explainers.memory.model_shapes import find_shape
from explainers.memory.serving import (
    Deployment,
    count_free_bytes_per_gpu,
    count_text_bytes_per_gpu,
    has_room,
    read_gpus,
)
from explainers.models.indexers import FIRST, INDEXER, KEPT, TWICE, WINDOW, read_indexers
from explainers.models.replaced_heads import KINDS, MEAN, ZERO
from explainers.models.shipped_measurements import read_ablations
from explainers.toys.layers import draw_layer
from explainers.toys.sentence import SENTENCE

WORDS = tuple(SENTENCE.split())
QUERY, KEY = WORDS.index("announced"), WORDS.index("CEO")
STEPS = tuple(n / 2 for n in range(-8, 9))


def change_one_key(draw: Random) -> Goal:
    """Move the key of one word along or against a query until the weight is large enough."""
    return choose_fair_goal(_keys_to_change(draw))


def _keys_to_change(draw: Random) -> Iterator[Goal]:
    settings = (
        Setting("word", "Word whose key is changed", WORDS, WORDS[0]),
        Setting("steps", "Query of announced, times", STEPS, 0.0),
    )
    while True:
        seed, least = draw.randrange(100), draw.choice([0.5, 0.6, 0.7])
        given = {"least": f"{least:.1f}", "seed": f"{seed}"}
        yield Goal(given, settings, partial(_weight_of_ceo, seed, least))


def _weight_of_ceo(seed: int, least: float, word: str, steps: float) -> GoalMeasurement:
    x, head, mask = draw_layer(WORDS, 8, 1, 4, "full", seed).single()
    query, key, value = project(x, head)
    changed = key.clone()
    changed[WORDS.index(word)] += steps * query[QUERY]
    weight = attention(query, changed, value, mask).weights[QUERY, KEY].item()
    return GoalMeasurement(weight > least, {"weight": f"{weight:.3f}"})


def a_temperature_that_flattens(draw: Random) -> Goal:
    """Warm enough that no word gets much, and no warmer than is needed."""
    seed, most = draw.randrange(100), draw.choice([0.25, 0.3, 0.35])
    steps = tuple(round(2 ** (n / 2), 3) for n in range(-4, 15))
    settings = (Setting("temperature", "Temperature", steps, 1.0),)
    return Goal({"most": f"{most:.2f}", "seed": f"{seed}"}, settings, partial(_flat, seed, most))


def _flat(seed: int, most: float, temperature: float) -> GoalMeasurement:
    x, head, _ = draw_layer(WORDS, 8, 1, 4, "full", seed).single()
    query, key, _ = project(x, head)
    products = query @ key.T

    def largest(at: float) -> float:
        return with_temperature(products, at).max().item()

    cooler = largest(round(temperature / 2**0.5, 3))
    met = largest(temperature) < most <= cooler
    return GoalMeasurement(
        met, {"largest": f"{largest(temperature):.3f}", "cooler": f"{cooler:.3f}"}
    )


def a_mask_for_one_pair(draw: Random) -> Goal:
    """A rule and a width under which one word sees another, with few cells."""
    query = draw.randrange(4, len(WORDS))
    key = draw.randrange(query - 2, query)
    most = cells(masks.build(masks.sliding_window(query - key + 1), len(WORDS), len(WORDS)))
    rules = "full", "causal", "window", "prefix"
    settings = (
        Setting("rule", "Mask", rules, "full"),
        Setting("size", "Its width or length", tuple(range(1, 8)), 1),
    )
    given = {"query": WORDS[query], "key": WORDS[key], "most": f"{most}"}
    return Goal(given, settings, partial(_seen, query, key, most))


def _seen(query: int, key: int, most: int, rule: str, size: int) -> GoalMeasurement:
    rules = {
        "full": masks.full,
        "causal": masks.causal,
        "window": masks.sliding_window(size),
        "prefix": masks.prefix(size),
    }
    mask = masks.build(rules[rule], len(WORDS), len(WORDS))
    seen, left = bool(mask[query, key]), cells(mask)
    return GoalMeasurement(seen and left <= most, {"seen": format_bool(seen), "cells": f"{left}"})


PRECISIONS = "bfloat16", "fp8", "int4"


def heads_for_a_budget(draw: Random) -> Goal:
    """Few enough numbers, and no group larger than is allowed."""
    heads, largest = draw.choice([8, 16]), draw.choice([2, 4])
    head_dim = 512 // heads
    most = parameters(512, heads, heads // largest, head_dim)
    settings = (Setting("num_kv_heads", "KV heads", tuple(_divisors(heads)), heads),)
    given = {"heads": f"{heads}", "largest": f"{largest}", "most": f"{most:,}"}
    return Goal(given, settings, partial(_affordable, heads, largest, most))


def _affordable(heads: int, largest: int, most: int, num_kv_heads: int) -> GoalMeasurement:
    numbers, group = parameters(512, heads, num_kv_heads, 512 // heads), heads // num_kv_heads
    measured = {"numbers": f"{numbers:,}", "group": f"{group}"}
    return GoalMeasurement(numbers <= most and group <= largest, measured)


def _divisors(number: int) -> list[int]:
    return [n for n in range(1, number + 1) if number % n == 0]


def a_model_on_two_gpus(draw: Random) -> Goal:
    """Formats of weights and cache with which so many readers fit, weights as fine as can be."""
    tokens, readers = 1024 * draw.choice([16, 32, 64]), draw.choice([8, 12, 16])
    settings = (
        Setting("weights", "Weights are kept in", PRECISIONS, PRECISIONS[0]),
        Setting("cache", "The cache is kept in", PRECISIONS, PRECISIONS[0]),
    )
    given = {"tokens": f"{tokens:,}", "readers": f"{readers}"}
    return Goal(given, settings, partial(_serves, tokens, readers))


def _serves(tokens: int, readers: int, weights: str, cache: str) -> GoalMeasurement:
    served = Deployment(find_shape("llama-3.1-70b"), read_gpus()["h100"], 2, weights, cache)
    free = count_free_bytes_per_gpu(served)
    needed = readers * count_text_bytes_per_gpu(served, tokens)
    finer = PRECISIONS[max(0, PRECISIONS.index(weights) - 1)]
    finest = Deployment(served.shape, served.gpu, 2, finer, PRECISIONS[-1])  # the smallest cache
    could = finer != weights and has_room(finest, tokens, readers)
    measured = {
        "free": format_size(max(free, 0)),
        "needed": format_size(needed),
        "finer": format_bool(could),
    }
    return GoalMeasurement(has_room(served, tokens, readers) and not could, measured)


def a_head_that_zeros_misjudge(draw: Random) -> Goal:
    """A layer and a head: dear with zeros, cheap with the mean."""
    return choose_fair_goal(_heads_to_find(draw))


def _heads_to_find(draw: Random) -> Iterator[Goal]:
    layers, heads = read_ablations().ablations.rises.shape[1:3]
    while True:  # also from another head: one that is right at once is so whatever is asked
        settings = (
            Setting("layer", "Layer, from 0", tuple(range(layers)), draw.randrange(layers)),
            Setting("head", "Head, from 0", tuple(range(heads)), draw.randrange(heads)),
        )
        least, most = draw.choice([0.02, 0.03, 0.04]), draw.choice([0.005, 0.01])
        given = {"least": f"{least:g}", "most": f"{most:g}", "heads": f"{layers * heads}"}
        yield Goal(given, settings, partial(_misjudged, least, most))


def _misjudged(least: float, most: float, layer: int, head: int) -> GoalMeasurement:
    rises = read_ablations().ablations.rises[:, layer, head].mean(dim=-1)
    zero, mean = (float(rises[KINDS.index(kind)]) for kind in (ZERO, MEAN))
    is_met = zero >= least and abs(mean) <= most
    shown = {"zero": f"{zero:+.3f}", "mean": f"{mean:+.3f}"}
    return GoalMeasurement(is_met, {name: one.replace("-", "−") for name, one in shown.items()})


POLICIES = {"window": WINDOW, "first tokens + window": FIRST, "indexer": INDEXER}


def few_keys_for_a_loss(draw: Random) -> Goal:
    """A policy and a number of keys, so that the loss stays below a bound."""
    return choose_fair_goal(_keys_to_keep(draw))


def _keys_to_keep(draw: Random) -> Iterator[Goal]:
    settings = (
        Setting("policy", "Keys kept by", tuple(POLICIES), "window"),
        Setting("kept", "Keys kept", KEPT, KEPT[0]),
    )
    while True:
        most, rise = draw.choice(KEPT[2:]), draw.choice([0.5, 1.0, 1.7, 2.4, 2.7])
        full = read_indexers().passages[TWICE].full_loss
        given = {"full": f"{full:.2f}", "loss": f"{full + rise:.2f}", "most": f"{most}"}
        yield Goal(given, settings, partial(_kept_for_a_loss, rise, most))


def _kept_for_a_loss(rise: float, most: int, policy: str, kept: int) -> GoalMeasurement:
    passage = read_indexers().passages[TWICE]
    loss = passage.losses[POLICIES[policy]][KEPT.index(kept)]
    is_met = loss - passage.full_loss <= rise and kept <= most
    return GoalMeasurement(is_met, {"reached": f"{loss:.2f}"})
