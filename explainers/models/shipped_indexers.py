"""Indexers of every layer of a model, and what reading few keys costs it: kept with the app."""

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from explainers.attention.indexer import Indexer, IndexInputs, index_scores
from explainers.models.registry import WHEEL_MODELS
from explainers.models.shipped_scores import FOLDER, has_other_weights, read_tensors

MODEL = WHEEL_MODELS[0].id
WEIGHTS_FILE, NUMBERS_FILE = FOLDER / "choosing.safetensors", FOLDER / "choosing.json"
PROSE, TWICE = "prose", "twice"
ORACLE, INDEXER, FIRST, WINDOW = POLICIES = "oracle", "indexer", "first", "window"
NUM_FIRST = 4
"""First tokens of a text that the third policy keeps besides a window."""
KEPT = 8, 16, 32, 48, 64, 128, 256
USUAL, FEW, SHORT = 64, 16, 48
"""Keys kept in tables and questions: of the prose, very few of it, of the text read twice."""
OWN = 16, 32, 64
"""Numbers of keys for which each head also chooses its own."""
LEVELS = 127
"""A weight of an indexer is a whole number of steps up to this; each column has its own step."""
INDEXER_PARTS = ("w_query", "w_key", "w_share")


class Passage(NamedTuple):
    """A text in one layer: its heads' mean weights (length, length), what its indexer compares."""

    tokens: list[str]
    ids: list[int]
    layer: int
    query: int
    """The token whose keys are shown at first, from 0."""
    seed: int
    """What the training of the layer's indexer began from."""
    weights: Tensor
    inputs: IndexInputs
    losses: Mapping[str, Sequence[float]]
    """By policy, for each number of `KEPT`."""
    full_loss: float

    def score_keys(self, inputs: IndexInputs | None = None) -> Tensor:
        """How much every key is worth reading, for every query (length, length)."""
        return index_scores(*(inputs or self.inputs))


class Shipped(NamedTuple):
    """All that the files hold."""

    passages: dict[str, Passage]
    numbers: dict[str, Any]
    indexers: tuple[Indexer, ...]


def unpack_indexers(packed: Mapping[str, Tensor]) -> tuple[Indexer, ...]:
    """The same, as they are used."""
    whole = {name: packed[name].float() * packed[f"{name}: step"] for name in INDEXER_PARTS}
    parts = {**whole, "gain": packed["gain"], "shift": packed["shift"]}
    layers = zip(*(parts[name] for name in Indexer._fields), strict=True)
    return tuple(Indexer(*layer) for layer in layers)


def read_shipped_indexers(model: str) -> Shipped | None:
    """What came with the app, if it was measured with this model and these weights."""
    if model != MODEL or not (WEIGHTS_FILE.is_file() and NUMBERS_FILE.is_file()):
        return None
    shipped = read_files()
    return None if has_other_weights(model, shipped.numbers["fingerprint"]) else shipped


@functools.cache
def read_files() -> Shipped:
    """Both files, read once."""
    numbers = json.loads(NUMBERS_FILE.read_text(encoding="utf-8"))
    tensors, _described = read_tensors(WEIGHTS_FILE)
    told = numbers["texts"]
    passages = {name: _read_passage(told[name], name, tensors) for name in (PROSE, TWICE)}
    return Shipped(passages, numbers, unpack_indexers(tensors))


def _read_passage(told: Mapping[str, Any], name: str, tensors: Mapping[str, Tensor]) -> Passage:
    length = len(told["tokens"])
    weights = torch.zeros(length, length)
    rows, columns = torch.tril_indices(length, length)
    weights[rows, columns] = tensors[f"{name}: weights"].float()
    inputs = IndexInputs(*(tensors[f"{name}: {part}"] for part in IndexInputs._fields))
    return Passage(
        tokens=told["tokens"],
        ids=told["ids"],
        layer=told["layer"],
        query=told["query"],
        seed=told["seed"],
        weights=weights,
        inputs=inputs,
        losses=told["losses"],
        full_loss=told["full"],
    )
