"""Reach a goal: settings are changed until a measured condition holds."""

from collections.abc import Iterator
from functools import partial
from random import Random

from explainers.attention import masks
from explainers.attention.cache.windows import sinks_and_window
from explainers.attention.multi_head import parameters
from explainers.attention.receptive_field import cells, reach
from explainers.attention.scaled_dot_product import attention
from explainers.attention.scaling import measure, with_temperature
from explainers.attention.single_head import project
from explainers.attention.tiled import tile_cells
from explainers.chapters.exercises.exercise_table import (
    Goal,
    GoalMeasurement,
    Setting,
    choose_fair_goal,
    format_bool,
)
from explainers.memory.model_shapes import find_shape
from explainers.memory.serving import (
    Deployment,
    count_free_bytes_per_gpu,
    count_text_bytes_per_gpu,
    has_room,
    read_gpus,
)
from explainers.memory.sizes import format_size
from explainers.toys.examples import make_generator
from explainers.toys.layers import draw_layer
from explainers.toys.sentence import SENTENCE

WORDS = tuple(SENTENCE.split())
QUERY, KEY = WORDS.index("announced"), WORDS.index("CEO")
DRAWS = 1_000
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


def a_window_and_a_depth(draw: Random) -> Goal:
    """Let the last word hear of an early one, with few cells in all layers together."""
    first, most = draw.choice([0, 1, 2]), draw.choice([60, 70, 80])
    widths, layers = tuple(range(1, 8)), tuple(range(1, 7))
    settings = Setting("width", "Window", widths, 2), Setting("layers", "Layers", layers, 2)
    given = {"word": WORDS[first], "most": f"{most}"}
    return Goal(given, settings, partial(_heard_of, first, most))


def _heard_of(first: int, most: int, width: int, layers: int) -> GoalMeasurement:
    mask = masks.build(masks.sliding_window(width), len(WORDS), len(WORDS))
    heard = bool(reach(mask, layers)[-1, -1, first])
    work = layers * cells(mask)
    return GoalMeasurement(
        heard and work <= most, {"heard": format_bool(heard), "cells": f"{work}"}
    )


def a_d_k_that_saturates(draw: Random) -> Goal:
    """The smallest d_k of a list at which softmax without the root puts most on one token."""
    least, seed = draw.choice([0.8, 0.85, 0.9]), draw.randrange(100)
    sizes = tuple(2**n for n in range(2, 10))
    settings = (Setting("head_dim", "d_k", sizes, sizes[0]),)
    given = {"least": f"{least:.2f}", "keys": f"{len(WORDS)}"}
    return Goal(given, settings, partial(_saturates, seed, least))


def _saturates(seed: int, least: float, head_dim: int) -> GoalMeasurement:
    here, before = (
        measure(n, len(WORDS), DRAWS, make_generator("saturates", seed, n)).largest[0].mean().item()
        for n in (head_dim, head_dim // 2)
    )
    smallest = here > least >= before
    return GoalMeasurement(smallest, {"mean": f"{here:.3f}", "half": f"{before:.3f}"})


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


def sinks_and_a_window(draw: Random) -> Goal:
    """A bounded cache in which a late query still sees the first word and its neighbours."""
    tokens, rows = draw.randint(12, 40), draw.randint(5, 9)
    behind = rows - 2
    settings = (
        Setting("sinks", "Sinks", (0, 1, 2, 4), 0),
        Setting("width", "Window", tuple(range(1, 11)), 1),
    )
    given = {"tokens": f"{tokens}", "rows": f"{rows}", "behind": f"{behind}"}
    return Goal(given, settings, partial(_kept, tokens, rows, behind))


def _kept(tokens: int, rows: int, behind: int, sinks: int, width: int) -> GoalMeasurement:
    row = masks.build(sinks_and_window(sinks, width), tokens, tokens)[-1]
    kept, first, neighbour = int(row.sum()), bool(row[0]), bool(row[-1 - behind])
    measured = {"kept": f"{kept}", "first": format_bool(first), "neighbour": format_bool(neighbour)}
    return GoalMeasurement(first and neighbour and kept <= rows, measured)


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


def tiles_for_a_fast_memory(draw: Random) -> Goal:
    """Tiles small enough to fit, and as few of them as that allows."""
    tokens, most = draw.choice([24, 36, 48]), draw.choice([24, 36, 48])
    sides = (2, 3, 4, 6, 8, 12)
    rule = masks.causal

    def tiles(rows: int, columns: int) -> int:
        return int((tile_cells(rule, tokens, tokens, rows, columns) > 0).sum())

    least = min(tiles(a, b) for a in sides for b in sides if a * b <= most)

    def measure(rows: int, columns: int) -> GoalMeasurement:
        used = tiles(rows, columns)
        held = rows * columns
        return GoalMeasurement(
            held <= most and used == least, {"tiles": f"{used}", "held": f"{held}"}
        )

    settings = (
        Setting("rows", "Queries in a tile", sides, 2),
        Setting("columns", "Keys in a tile", sides, 2),
    )
    return Goal({"tokens": f"{tokens}", "most": f"{most}", "least": f"{least}"}, settings, measure)
