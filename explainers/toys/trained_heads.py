"""Weights that were trained by `explainers.toys.training`, read from the shipped file."""

import functools
from collections.abc import Sequence
from typing import NamedTuple

from safetensors import safe_open
from torch import Tensor

from explainers.attention import masks
from explainers.device import choose_device
from explainers.folders import ASSETS
from explainers.toys.layers import Layer, Tokens, TrainedHeads, build_mask

WEIGHTS_FILE = ASSETS / "weights" / "relations.safetensors"
D_MODEL = 64
NUM_HEADS = (1, 2, 4, 8)
HEAD_DIMS = (4, 8, 16, 32, 64)
MASK_NAMES = tuple(
    mask.label() for mask in masks.MASKS if mask.name in ("full", "causal", "window")
)
SEEDS = (0, 1)
MAX_NEWS_TOKENS = 8
"""Training saw no longer sentence, and no later position."""
PART_NAMES = ("embedding", "w_query", "w_key", "w_value", "w_output", "bias")


class Configuration(NamedTuple):
    """The sizes and the mask of heads that were trained, from several seeds."""

    num_heads: int
    num_kv_heads: int
    head_dim: int
    rule: str


def list_head_dims(num_heads: int) -> tuple[int, ...]:
    """All d_k that were trained: all heads together are never wider than d_model."""
    return tuple(size for size in HEAD_DIMS if num_heads * size <= D_MODEL)


def list_kv_heads(num_heads: int) -> tuple[int, ...]:
    """All numbers of KV heads that were trained: those that divide the query heads."""
    return tuple(number for number in NUM_HEADS if num_heads % number == 0)


def list_configurations() -> list[Configuration]:
    """All configurations that were trained."""
    layers = [(n, kv, d) for n in NUM_HEADS for kv in list_kv_heads(n) for d in list_head_dims(n)]
    return [Configuration(*layer, rule) for rule in MASK_NAMES for layer in layers]


def choose_shipped_seed(seed: int) -> int:
    """The seed itself if its weights are shipped, else the first one that is."""
    return seed if seed in SEEDS else SEEDS[0]


@functools.lru_cache(maxsize=64)
def load_heads(configuration: Configuration, seed: int) -> TrainedHeads:
    """The shipped weights of one configuration."""
    num_heads, num_kv_heads, head_dim, rule = configuration
    _check_trained("query heads", num_heads, NUM_HEADS)
    _check_trained(f"KV heads for {num_heads} query heads", num_kv_heads, list_kv_heads(num_heads))
    _check_trained(f"d_k for {num_heads} query heads", head_dim, list_head_dims(num_heads))
    _check_trained("mask", rule, MASK_NAMES)
    _check_trained("seed", seed, SEEDS)
    words, tensors = read_tensors([name_part(configuration, seed, part) for part in PART_NAMES])
    return TrainedHeads.from_parts(
        words, (part.float().to(choose_device()) for part in tensors.values()), head_dim
    )


def read_tensors(names: Sequence[str]) -> tuple[tuple[str, ...], dict[str, Tensor]]:
    """The words and some tensors of the shipped file."""
    if not WEIGHTS_FILE.exists():
        raise FileNotFoundError(f"no {WEIGHTS_FILE.name} yet: python -m explainers.toys makes it")
    with safe_open(WEIGHTS_FILE, framework="pt") as file:
        words = tuple(file.metadata()["words"].split())
        return words, {name: file.get_tensor(name) for name in names}


def name_part(configuration: Configuration, seed: int, part: str) -> str:
    """The name of one tensor in the file."""
    return "{} heads, {} KV, d_k {}, {}, seed {}: {}".format(*configuration, seed, part)


def load_layer(tokens: Tokens, configuration: Configuration, seed: int) -> Layer:
    """A sentence, heads that learned to find related words, and the mask they learned under."""
    trained = load_heads(configuration, seed)
    x, unknown = trained.read_words(tokens)
    rule = configuration.rule
    mask = build_mask(rule, x)
    return Layer(tokens, x, trained.layer, mask, rule, seed, learned=trained, unknown=unknown)


def _check_trained(name: str, value: object, trained: Sequence[object]) -> None:
    if value not in trained:
        raise ValueError(f"{name} {value}: trained are {', '.join(map(str, trained))}")
