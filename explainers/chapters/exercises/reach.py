"""Reach a goal: settings are changed until a measured condition holds."""

from dataclasses import replace
from random import Random

from explainers.attention import masks
from explainers.attention.multi_head import parameters
from explainers.attention.receptive_field import cells
from explainers.attention.scaled_dot_product import attention
from explainers.attention.scaling import with_temperature
from explainers.attention.single_head import project
from explainers.chapters.common.claim_parameters import Setting
from explainers.chapters.exercises.deck import Goal, GoalMeasurement, draw_until_fair, format_bool
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


@draw_until_fair
def change_one_key(draw: Random) -> Goal:
    """Move the key of one word along or against a query until the weight is large enough."""
    seed, least = draw.randrange(100), draw.choice([0.5, 0.6, 0.7])

    def measure(word: str, steps: float) -> GoalMeasurement:
        x, head, mask = draw_layer(WORDS, 8, 1, 4, "full", seed).single()
        query, key, value = project(x, head)
        changed = key.clone()
        changed[WORDS.index(word)] += steps * query[QUERY]
        weight = attention(query, changed, value, mask).weights[QUERY, KEY].item()
        return GoalMeasurement(weight > least, {"weight": f"{weight:.3f}"})

    settings = (
        Setting("word", "Word whose key is changed", WORDS, WORDS[0]),
        Setting("steps", "Query of announced, times", STEPS, 0.0),
    )
    return Goal({"least": f"{least:.1f}", "seed": f"{seed}"}, settings, measure)


def a_temperature_that_flattens(draw: Random) -> Goal:
    """Warm enough that no word gets much, and no warmer than is needed."""
    seed, most = draw.randrange(100), draw.choice([0.25, 0.3, 0.35])

    def measure(temperature: float) -> GoalMeasurement:
        x, head, _ = draw_layer(WORDS, 8, 1, 4, "full", seed).single()
        query, key, _ = project(x, head)
        largest, cooler = (
            with_temperature(query @ key.T, one).max().item()
            for one in (temperature, round(temperature / 2**0.5, 3))
        )
        measured = {"largest": f"{largest:.3f}", "cooler": f"{cooler:.3f}"}
        return GoalMeasurement(largest < most <= cooler, measured)

    steps = tuple(round(2 ** (n / 2), 3) for n in range(-4, 15))
    settings = (Setting("temperature", "Temperature", steps, 1.0),)
    return Goal({"most": f"{most:.2f}", "seed": f"{seed}"}, settings, measure)


def a_mask_for_one_pair(draw: Random) -> Goal:
    """A rule and a width under which one word sees another, with few cells."""
    query = draw.randrange(4, len(WORDS))
    key = draw.randrange(query - 2, query)
    most = cells(masks.build(masks.sliding_window(query - key + 1), len(WORDS), len(WORDS)))

    def measure(rule: str, size: int) -> GoalMeasurement:
        rules = {
            "full": masks.full,
            "causal": masks.causal,
            "window": masks.sliding_window(size),
            "prefix": masks.prefix(size),
        }
        mask = masks.build(rules[rule], len(WORDS), len(WORDS))
        seen, left = bool(mask[query, key]), cells(mask)
        measured = {"seen": format_bool(seen), "cells": f"{left}"}
        return GoalMeasurement(seen and left <= most, measured)

    rules = "full", "causal", "window", "prefix"
    settings = (
        Setting("rule", "Mask", rules, "full"),
        Setting("size", "Its width or length", tuple(range(1, 8)), 1),
    )
    given = {"query": WORDS[query], "key": WORDS[key], "most": f"{most}"}
    return Goal(given, settings, measure)


PRECISIONS = "bfloat16", "fp8", "int4"


def heads_for_a_budget(draw: Random) -> Goal:
    """Few enough numbers, and no group larger than is allowed."""
    heads, largest = draw.choice([8, 16]), draw.choice([2, 4])
    most = parameters(512, heads, heads // largest, 512 // heads)

    def measure(num_kv_heads: int) -> GoalMeasurement:
        numbers, group = parameters(512, heads, num_kv_heads, 512 // heads), heads // num_kv_heads
        measured = {"numbers": f"{numbers:,}", "group": f"{group}"}
        return GoalMeasurement(numbers <= most and group <= largest, measured)

    divisors = tuple(n for n in range(1, heads + 1) if heads % n == 0)
    settings = (Setting("num_kv_heads", "KV heads", divisors, heads),)
    given = {"heads": f"{heads}", "largest": f"{largest}", "most": f"{most:,}"}
    return Goal(given, settings, measure)


def a_model_on_two_gpus(draw: Random) -> Goal:
    """Formats of weights and cache with which so many readers fit, weights as fine as can be."""
    tokens, readers = 1024 * draw.choice([16, 32, 64]), draw.choice([8, 12, 16])

    def measure(weights: str, cache: str) -> GoalMeasurement:
        served = Deployment(find_shape("llama-3.1-70b"), read_gpus()["h100"], 2, weights, cache)
        finer = PRECISIONS[max(0, PRECISIONS.index(weights) - 1)]
        finest = replace(
            served, weight_dtype=finer, cache_dtype=PRECISIONS[-1]
        )  # the smallest cache
        could = finer != weights and has_room(finest, tokens, readers)
        measured = {
            "free": format_size(max(count_free_bytes_per_gpu(served), 0)),
            "needed": format_size(readers * count_text_bytes_per_gpu(served, tokens)),
            "finer": format_bool(could),
        }
        return GoalMeasurement(has_room(served, tokens, readers) and not could, measured)

    settings = (
        Setting("weights", "Weights are kept in", PRECISIONS, PRECISIONS[0]),
        Setting("cache", "The cache is kept in", PRECISIONS, PRECISIONS[0]),
    )
    return Goal({"tokens": f"{tokens:,}", "readers": f"{readers}"}, settings, measure)


@draw_until_fair
def a_head_that_zeros_misjudge(draw: Random) -> Goal:
    """A layer and a head: dear with zeros, cheap with the mean."""
    rises = read_ablations().ablations.rises.mean(dim=-1)  # (kinds, layers, heads)
    _kinds, layers, heads = rises.shape
    settings = (  # not always the same head: one that is right at once is so whatever is asked
        Setting("layer", "Layer, from 0", tuple(range(layers)), draw.randrange(layers)),
        Setting("head", "Head, from 0", tuple(range(heads)), draw.randrange(heads)),
    )
    least, most = draw.choice([0.02, 0.03, 0.04]), draw.choice([0.005, 0.01])

    def measure(layer: int, head: int) -> GoalMeasurement:
        zero, mean = (float(rises[KINDS.index(kind), layer, head]) for kind in (ZERO, MEAN))
        measured = {"zero": f"{zero:+.3f}", "mean": f"{mean:+.3f}"}
        written = {name: one.replace("-", "−") for name, one in measured.items()}
        return GoalMeasurement(zero >= least and abs(mean) <= most, written)

    given = {"least": f"{least:g}", "most": f"{most:g}", "heads": f"{layers * heads}"}
    return Goal(given, settings, measure)


POLICIES = {"window": WINDOW, "first tokens + window": FIRST, "indexer": INDEXER}


@draw_until_fair
def few_keys_for_a_loss(draw: Random) -> Goal:
    """A policy and a number of keys, so that the loss stays below a bound."""
    most, rise = draw.choice(KEPT[2:]), draw.choice([0.5, 1.0, 1.7, 2.4, 2.7])
    passage = read_indexers().passages[TWICE]
    full = passage.full_loss

    def measure(policy: str, kept: int) -> GoalMeasurement:
        loss = passage.losses[POLICIES[policy]][KEPT.index(kept)]
        return GoalMeasurement(loss - full <= rise and kept <= most, {"reached": f"{loss:.2f}"})

    settings = (
        Setting("policy", "Keys kept by", tuple(POLICIES), "window"),
        Setting("kept", "Keys kept", KEPT, KEPT[0]),
    )
    given = {"full": f"{full:.2f}", "loss": f"{full + rise:.2f}", "most": f"{most}"}
    return Goal(given, settings, measure)
