"""Trains an indexer for every layer, the best of a few beginnings."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch import Tensor

from explainers.attention.indexer import Indexer
from explainers.models.indexers import (
    FIRST_ROW,
    STEPS,
    IndexerSize,
    Reading,
    compute_kl,
    read_layers,
    train_indexer,
)

TRIES, MOST_LAYERS = 3, 1_000
"""Beginnings that are tried in a layer; no two layers have the same seeds."""
STARTED = 10
"""Steps at the start of a training that are the same on any processor, but for roundings."""


def measure_start(
    readings: Sequence[Reading], size: IndexerSize, seed: int, steps: int = STEPS
) -> list[float]:
    """How far an indexer is from the heads (KL, in nats) at the first steps of its training.

    Roundings grow with every step, so the end of a training depends on the processor. Its start
    does not; and whatever is changed in a training, its texts, size, seed or rate, changes it.
    """
    states = train_indexer(readings, size, seed, steps)
    return [state.divergence for state in islice(states, STARTED)]


class Trained(NamedTuple):
    """The indexer of a layer, and the seed that it began from."""

    indexer: Indexer
    seed: int


def train_best(
    readings: Sequence[Reading], size: IndexerSize, layer: int, steps: int = STEPS
) -> Trained:
    """The nearest to the heads of some beginnings: from a few, training gets stuck."""
    found = []
    for seed in range(layer, layer + TRIES * MOST_LAYERS, MOST_LAYERS):
        *_, last = train_indexer(readings, size, seed, steps)
        apart = sum(
            float(compute_kl(last.indexer, one, torch.arange(FIRST_ROW, len(one.x))))
            for one in readings
        )
        found.append((apart, Trained(last.indexer, seed)))
    return min(found, key=lambda one: one[0])[1]


def train_all(
    model: Any, texts: Sequence[Tensor], size: IndexerSize, steps: int = STEPS
) -> list[Trained]:
    """An indexer for every layer."""
    readings = [read_layers(model, text) for text in texts]
    layers = enumerate(zip(*readings, strict=True))
    return [train_best(own, size, layer, steps) for layer, own in layers]


def measure_kept_weight(
    readings: Sequence[Reading], masks: Mapping[str, Callable[[int, Reading], Tensor]]
) -> dict[str, list[float]]:
    """By policy, of each layer: the weight that a query of the second half keeps, on average."""
    kept: dict[str, list[float]] = {name: [] for name in masks}
    for layer, reading in enumerate(readings):
        half = len(reading.x) // 2
        for name, choose in masks.items():
            weight = (reading.weights * choose(layer, reading))[half:].sum(dim=-1)
            kept[name].append(weight.mean().item())
    return kept
