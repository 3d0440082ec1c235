"""Trains an indexer for every layer, measures what reading few keys costs, writes both files.

`python -m workshop.models.measure_indexers` trains, measures and writes: minutes. `--check`
measures again with the indexers that are shipped, begins the training again, and compares.
"""

import argparse
import itertools
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from explainers import kept
from explainers.attention.indexer import Indexer, IndexInputs
from explainers.models.changes import Window
from explainers.models.indexers import (
    CHOOSING,
    FIRST,
    INDEXER,
    KEPT,
    MODEL,
    MOST_TOKENS,
    NUM_FIRST,
    ORACLE,
    OWN,
    POLICIES,
    PROSE,
    SHORT,
    TWICE,
    USUAL,
    WINDOW,
    IndexerSize,
    Reading,
    list_training_texts,
    project_text,
    read_indexers,
    read_layers,
)
from explainers.models.probes import PASSAGES_FILE
from workshop.keep import keep_of_model
from workshop.models.key_policies import (
    BlockKeys,
    EvictedKeys,
    OracleKeys,
    compute_half_loss,
    compute_indexed_loss,
    find_missed_copy,
    find_telling_query,
    make_policies,
)
from workshop.models.train_indexers import measure_kept_weight, measure_start, train_all

if TYPE_CHECKING:
    from explainers.models.load import RealModel


REPEATED = 200
"""Tokens that are read twice."""


def list_texts(loaded: "RealModel") -> dict[str, Tensor]:
    """The two texts of the picture, as token ids (1, tokens)."""
    written = PASSAGES_FILE.read_text(encoding="utf-8")
    prose = loaded.tokenizer(written, return_tensors="pt").input_ids[:, :MOST_TOKENS]
    return {PROSE: prose, TWICE: prose[:, :REPEATED].repeat(1, 2)}


def measure_losses(
    model: Any, ids: Tensor, indexers: Sequence[Indexer], kept: Sequence[int]
) -> dict[str, list[float]]:
    """The loss of the second half by policy, for each number of keys."""
    changes: dict[str, Callable[[int], Any]] = {
        ORACLE: lambda count: OracleKeys(kept=count),
        FIRST: lambda count: Window(width=count - NUM_FIRST, sinks=NUM_FIRST),
        WINDOW: lambda count: Window(width=count),
    }
    losses = {
        name: [compute_half_loss(model, ids, make(count)) for count in kept]
        for name, make in changes.items()
    }
    found = [compute_indexed_loss(model, ids, indexers, count) for count in kept]
    return {name: found if name == INDEXER else losses[name] for name in POLICIES}


def describe_training(
    model: Any,
    texts: Mapping[str, Tensor],
    indexers: Sequence[Indexer],
    readings: Sequence[Reading],
) -> dict[str, float]:
    """How well indexers do: weight kept beside the oracle's, and the loss on both texts."""
    policies = make_policies(indexers, USUAL)
    kept = measure_kept_weight(readings, {name: policies[name] for name in (ORACLE, INDEXER)})
    shares = [mine / best for mine, best in zip(kept[INDEXER], kept[ORACLE], strict=True)]
    return {
        "share": sum(kept[INDEXER]) / sum(kept[ORACLE]),
        "worst": min(shares),
        "loss": compute_indexed_loss(model, texts[PROSE], indexers, USUAL),
        "twice": compute_indexed_loss(model, texts[TWICE], indexers, SHORT),
    }


def measure_caches(model: Any, ids: Tensor) -> dict[str, Any]:
    """What each head's own keys, thrown away rows and blocks cost."""
    # Own block and first one may fill all the room: then none is chosen, and nothing is measured.
    pairs = itertools.product((8, 16, 32), (True, False))
    blocks = [(size, first) for size, first in pairs if USUAL // size > 1 + first]
    loss = partial(compute_half_loss, model, ids)
    return {
        "own": {f"{kept}": loss(OracleKeys(kept=kept, is_shared=False)) for kept in OWN},
        "evicted": {f"{kept}": loss(EvictedKeys(kept=kept)) for kept in KEPT},
        "blocks": {
            f"{size} {'first' if first else 'free'}": loss(
                BlockKeys(size=size, kept=USUAL, keeps_first=first)
            )
            for size, first in blocks
        },
    }


def measure(loaded: "RealModel", indexers: Sequence[Indexer]) -> dict[str, Any]:
    """All numbers that these indexers and no indexer at all come to."""
    model, texts = loaded.model, list_texts(loaded)
    told: dict[str, Any] = {"texts": {}}
    for name, ids in texts.items():
        readings = read_layers(model, ids)
        if name == PROSE:
            told["indexer"] = describe_training(model, texts, indexers, readings)
            kept = measure_kept_weight(readings, make_policies(indexers, USUAL))
            told["weight"] = {policy: sum(found) / len(found) for policy, found in kept.items()}
        if name == PROSE:
            layer, query = find_telling_query(readings, indexers, ids.shape[1] // 2)
        else:
            layer, query = find_missed_copy(readings, indexers)
        told["texts"][name] = {
            "tokens": [str(loaded.tokenizer.decode([one])) for one in ids[0].tolist()],
            "ids": ids[0].tolist(),
            "layer": layer,
            "query": query,
            "full": compute_half_loss(model, ids),
            "losses": measure_losses(model, ids, indexers, KEPT),
        }
    return told | measure_caches(model, texts[PROSE])


def measure_training(loaded: "RealModel", layer: int, seed: int | None = None) -> dict[str, Any]:
    """How the training starts in one layer, and from what; another seed, another start."""
    texts, size = list_training_texts(loaded.tokenizer), IndexerSize()
    readings = [read_layers(loaded.model, text, layer)[layer] for text in texts]
    return {
        "size": [*size],
        "tokens": sum(text.shape[1] for text in texts),
        "start": measure_start(readings, size, layer if seed is None else seed),
    }


def pack_all(
    loaded: "RealModel", indexers: Sequence[Indexer], told: Mapping[str, Any]
) -> dict[str, Tensor]:
    """What the layers that are shown read, and what their indexers compare."""
    packed: dict[str, Tensor] = {}
    for name, ids in list_texts(loaded).items():
        layer = told["texts"][name]["layer"]
        reading = read_layers(loaded.model, ids, layer)[layer]
        packed |= pack_passage(name, reading, project_text(reading.x, indexers[layer]))
    return packed


def write(loaded: "RealModel") -> None:
    """Train, measure, write."""
    texts, began = list_training_texts(loaded.tokenizer), time.process_time()
    trained = train_all(loaded.model, texts, IndexerSize())
    packed = pack_indexers([one.indexer for one in trained])
    print(f"trained in {time.process_time() - began:.0f} s of one core", flush=True)
    indexers = unpack_indexers(packed)
    told = measure(loaded, indexers)
    told["training"] = measure_training(loaded, told["texts"][PROSE]["layer"])
    for passage in told["texts"].values():
        passage["seed"] = trained[passage["layer"]].seed
    told["tokens"] = sum(text.shape[1] for text in texts)
    tensors = packed | pack_all(loaded, indexers, told)
    command = "python -m workshop.models.measure_indexers"
    keep_of_model(CHOOSING, MODEL, command, TOLERANCE, told, tensors)


LOSSES, START = "losses, and shares", "start of training"
TOLERANCE = {LOSSES: 0.003, START: 5e-4}
"""On another machine losses were off by .0018 at most, starts by .00018. Pages call a loss worse
from .01 on."""


def list_differences(one: Any, other: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """How far a measurement is from what is shipped, which may hold more, number by number.

    Whole numbers and texts are equal, or infinitely far; so is what one of both lacks.
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in one:
            yield from list_differences(one[key], other.get(key), f"{name} {key}".strip())
    elif isinstance(one, list) and isinstance(other, list):
        for place, both in enumerate(itertools.zip_longest(one, other)):
            yield from list_differences(*both, f"{name} {place}")
    elif isinstance(one, float) and isinstance(other, float):
        yield name, abs(one - other)
    else:
        yield name, 0.0 if one == other else math.inf


def compare_numbers(measured: Mapping[str, Any], shipped: Mapping[str, Any]) -> bool:
    """Are they the same but for rounding? Tells those that are farthest from it."""
    allowed = kept.read(CHOOSING).tolerance
    apart = [
        (name, far / allowed[START if name.startswith("training") else LOSSES])
        for name, far in list_differences(measured, shipped)
    ]
    apart.sort(key=lambda found: found[1])
    for name, far in apart[-5:]:
        print(f"{name}: {far:.2f} of what is allowed")
    return apart[-1][1] <= 1


def check(loaded: "RealModel") -> int:
    """Measure again with what is shipped; 1 if a number differs by more than its tolerance."""
    shipped = read_indexers()
    measured = measure(loaded, read_packed_indexers())
    measured["training"] = measure_training(loaded, shipped.passages[PROSE].layer)
    return int(not compare_numbers(measured, shipped.numbers))


def main() -> int:
    """Write, or check."""
    from explainers.models.load import load_model

    parser = argparse.ArgumentParser(prog="python -m workshop.models.measure_indexers")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    loaded = load_model(MODEL)
    if parser.parse_args().check:
        return check(loaded)
    write(loaded)
    return 0


LEVELS = 127
"""A weight of an indexer is a whole number of steps up to this; each column has its own step."""
INDEXER_PARTS = ("w_query", "w_key", "w_share")


def pack_indexers(indexers: Sequence[Indexer]) -> dict[str, Tensor]:
    """All layers' indexers, a byte a weight."""
    packed = {}
    for name in INDEXER_PARTS:
        stacked = torch.stack([getattr(one, name) for one in indexers])
        step = stacked.abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / LEVELS
        packed[name] = (stacked / step).round().to(torch.int8)
        packed[f"{name}: step"] = step
    for name in ("gain", "shift"):
        packed[name] = torch.stack([getattr(one, name) for one in indexers])
    return packed


def unpack_indexers(packed: Mapping[str, Tensor]) -> tuple[Indexer, ...]:
    """The same, as they are used."""
    whole = {name: packed[name].float() * packed[f"{name}: step"] for name in INDEXER_PARTS}
    parts = {**whole, "gain": packed["gain"], "shift": packed["shift"]}
    layers = zip(*(parts[name] for name in Indexer._fields), strict=True)
    return tuple(Indexer(*layer) for layer in layers)


def read_packed_indexers() -> tuple[Indexer, ...]:
    """Those that came with the app."""
    return unpack_indexers(kept.read(CHOOSING).read_tensors())


def pack_passage(name: str, reading: Reading, inputs: IndexInputs) -> dict[str, Tensor]:
    """Half a matrix of weights in 16 bits, and an indexer's inputs."""
    rows, columns = torch.tril_indices(*reading.weights.shape)
    packed = {f"{name}: weights": reading.weights[rows, columns].half()}
    return packed | {
        f"{name}: {part}": tensor.contiguous() for part, tensor in inputs._asdict().items()
    }


if __name__ == "__main__":
    sys.exit(main())
