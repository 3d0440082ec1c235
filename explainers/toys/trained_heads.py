"""Weights that mean something: learned by `explainers.toys.train`, read from the shipped file."""

import functools
from collections.abc import Sequence
from typing import NamedTuple

from safetensors import safe_open
from torch import Tensor

from explainers.attention import masks
from explainers.device import choose_device
from explainers.folders import ASSETS
from explainers.toys.layers import Layer, Tokens, build_mask
from explainers.toys.learned import Learned

FILE = ASSETS / "weights" / "relations.safetensors"
D_MODEL = 64
NUM_HEADS = (1, 2, 4, 8)
HEAD_DIMS = (4, 8, 16, 32, 64)
RULES = tuple(mask.label() for mask in masks.MASKS if mask.name in ("full", "causal", "window"))
SEEDS = (0, 1)
MOST_TOKENS = 8
"""Training saw no longer sentence, and no later position."""
PARTS = ("embedding", "w_query", "w_key", "w_value", "w_output", "bias")


class Configuration(NamedTuple):
    """What was trained apart from each other, and from several seeds each."""

    num_heads: int
    num_kv_heads: int
    head_dim: int
    rule: str


def head_dims(num_heads: int) -> tuple[int, ...]:
    """Which d_k are trained: all heads together are never wider than d_model."""
    return tuple(size for size in HEAD_DIMS if num_heads * size <= D_MODEL)


def kv_heads(num_heads: int) -> tuple[int, ...]:
    """Which numbers of KV heads are trained: those that divide the query heads."""
    return tuple(number for number in NUM_HEADS if num_heads % number == 0)


def configurations() -> list[Configuration]:
    """Everything that the pages offer."""
    layers = [(n, kv, d) for n in NUM_HEADS for kv in kv_heads(n) for d in head_dims(n)]
    return [Configuration(*layer, rule) for rule in RULES for layer in layers]


def shipped_seed(seed: int) -> int:
    """The seed itself if its weights are shipped, else the first one that is."""
    return seed if seed in SEEDS else SEEDS[0]


@functools.lru_cache(maxsize=64)
def learned(configuration: Configuration, seed: int) -> Learned:
    """The shipped weights of one configuration."""
    num_heads, num_kv_heads, head_dim, rule = configuration
    _one_of("query heads", num_heads, NUM_HEADS)
    _one_of(f"KV heads for {num_heads} query heads", num_kv_heads, kv_heads(num_heads))
    _one_of(f"d_k for {num_heads} query heads", head_dim, head_dims(num_heads))
    _one_of("mask", rule, RULES)
    _one_of("seed", seed, SEEDS)
    words, kept = stored([part_name(configuration, seed, part) for part in PARTS])
    return Learned.of(words, (part.float().to(choose_device()) for part in kept.values()), head_dim)


def stored(names: Sequence[str]) -> tuple[tuple[str, ...], dict[str, Tensor]]:
    """The words and some tensors of the shipped file."""
    if not FILE.exists():
        raise FileNotFoundError(f"no {FILE.name} yet: python -m explainers.toys makes it")
    with safe_open(FILE, framework="pt") as file:
        words = tuple(file.metadata()["words"].split())
        return words, {name: file.get_tensor(name) for name in names}


def part_name(configuration: Configuration, seed: int, part: str) -> str:
    """What one tensor is called in the file."""
    return "{} heads, {} KV, d_k {}, {}, seed {}: {}".format(*configuration, seed, part)


def trained_layer(tokens: Tokens, configuration: Configuration, seed: int) -> Layer:
    """A sentence, heads that learned to find related words, and the mask they learned under."""
    known = learned(configuration, seed)
    x, unknown = known.read_words(tokens)
    rule = configuration.rule
    mask = build_mask(rule, x)
    return Layer(tokens, x, known.layer, mask, rule, seed, learned=known, unknown=unknown)


def _one_of(what: str, asked: object, trained: Sequence[object]) -> None:
    if asked not in trained:
        raise ValueError(f"{what} {asked}: trained are {', '.join(map(str, trained))}")
