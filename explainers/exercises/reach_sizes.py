"""Reach a goal: sizes of heads, caches and GPUs, until everything fits."""

from functools import partial
from random import Random

from explainers.attention import masks
from explainers.attention.cache_windows import sinks_and_window
from explainers.attention.multi_head import parameters
from explainers.attention.tiled import tile_cells
from explainers.exercises.kinds import Goal, Reached, Setting, yes
from explainers.memory.gpus import gpus
from explainers.memory.serving import Deployment, fits, free_on_each, sequence_on_each
from explainers.memory.shapes import model_shape
from explainers.memory.sizes import size

PRECISIONS = "bfloat16", "fp8", "int4"


def heads_for_a_budget(draw: Random) -> Goal:
    """Few enough numbers, and no group larger than is allowed."""
    heads, largest = draw.choice([8, 16]), draw.choice([2, 4])
    head_dim = 512 // heads
    most = parameters(512, heads, heads // largest, head_dim)
    settings = (Setting("num_kv_heads", "KV heads", tuple(_divisors(heads)), heads),)
    given = {"heads": f"{heads}", "largest": f"{largest}", "most": f"{most:,}"}
    return Goal(given, settings, partial(_affordable, heads, largest, most))


def _affordable(heads: int, largest: int, most: int, num_kv_heads: int) -> Reached:
    numbers, group = parameters(512, heads, num_kv_heads, 512 // heads), heads // num_kv_heads
    measured = {"numbers": f"{numbers:,}", "group": f"{group}"}
    return Reached(numbers <= most and group <= largest, measured)


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


def _kept(tokens: int, rows: int, behind: int, sinks: int, width: int) -> Reached:
    row = masks.build(sinks_and_window(sinks, width), tokens, tokens)[-1]
    kept, first, neighbour = int(row.sum()), bool(row[0]), bool(row[-1 - behind])
    measured = {"kept": f"{kept}", "first": yes(first), "neighbour": yes(neighbour)}
    return Reached(first and neighbour and kept <= rows, measured)


def a_model_on_two_gpus(draw: Random) -> Goal:
    """Formats of weights and cache with which so many readers fit, weights as fine as can be."""
    tokens, readers = 1024 * draw.choice([16, 32, 64]), draw.choice([8, 12, 16])
    settings = (
        Setting("weights", "Weights are kept in", PRECISIONS, PRECISIONS[0]),
        Setting("cache", "The cache is kept in", PRECISIONS, PRECISIONS[0]),
    )
    given = {"tokens": f"{tokens:,}", "readers": f"{readers}"}
    return Goal(given, settings, partial(_serves, tokens, readers))


def _serves(tokens: int, readers: int, weights: str, cache: str) -> Reached:
    served = Deployment(model_shape("llama-3.1-70b"), gpus()["h100"], 2, weights, cache)
    free, needed = free_on_each(served), readers * sequence_on_each(served, tokens)
    finer = PRECISIONS[max(0, PRECISIONS.index(weights) - 1)]
    finest = Deployment(served.shape, served.gpu, 2, finer, PRECISIONS[-1])  # the smallest cache
    could = finer != weights and fits(finest, tokens, readers)
    measured = {"free": size(max(free, 0)), "needed": size(needed), "finer": yes(could)}
    return Reached(fits(served, tokens, readers) and not could, measured)


def tiles_for_a_fast_memory(draw: Random) -> Goal:
    """Tiles small enough to fit, and as few of them as that allows."""
    tokens, most = draw.choice([24, 36, 48]), draw.choice([24, 36, 48])
    sides = (2, 3, 4, 6, 8, 12)
    rule = masks.causal

    def tiles(rows: int, columns: int) -> int:
        return int((tile_cells(rule, tokens, tokens, rows, columns) > 0).sum())

    least = min(tiles(a, b) for a in sides for b in sides if a * b <= most)

    def measure(rows: int, columns: int) -> Reached:
        used = tiles(rows, columns)
        held = rows * columns
        return Reached(held <= most and used == least, {"tiles": f"{used}", "held": f"{held}"})

    settings = (
        Setting("rows", "Queries in a tile", sides, 2),
        Setting("columns", "Keys in a tile", sides, 2),
    )
    return Goal({"tokens": f"{tokens}", "most": f"{most}", "least": f"{least}"}, settings, measure)
