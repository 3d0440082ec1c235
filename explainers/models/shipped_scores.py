"""Scores of the heads of two models, measured beforehand and kept with the app.

`python -m explainers.models.shipped_scores` measures them again and writes `assets/scores`. A file
also says how each head reads one short text, and of which weights all this was measured.
"""

import functools
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from explainers.folders import ASSETS
from explainers.models.head_scores import HeadScores, measure_heads
from explainers.models.head_scores_job import read_scores
from explainers.models.load import RealModel, load_model
from explainers.models.model_files import list_weight_files
from explainers.models.registry import WHEEL_MODELS, ModelError, resolve_folder

FOLDER = ASSETS / "scores"
EXAMPLE = "Tim Brown met Ann Lee. Later, Ann Lee called Tim Brown."
"""Names that come twice: the second time, a head can know what follows."""
LEVELS = 255
"""A weight of the example is kept as a whole number up to this."""
_EXAMPLE = "example"
_SAMPLE = 1 << 20


class Example(NamedTuple):
    """A short text in tokens, and the weights (layers, heads, tokens, tokens) of all heads on it.

    ids (tokens,); `first_repeated` is the first word that has been there before.
    """

    tokens: list[str]
    ids: Tensor
    weights: Tensor
    first_repeated: int


class ShippedScores(NamedTuple):
    """What a file holds."""

    scores: HeadScores
    example: Example
    fingerprint: str


def find_known_scores(model: str) -> HeadScores | None:
    """The scores of a model: as measured on this machine, else as they came with the app."""
    shipped = None if (measured := read_scores(model)) else read_shipped_scores(model)
    return measured or (shipped.scores if shipped else None)


def read_shipped_scores(model: str) -> ShippedScores | None:
    """What came with the app, unless the model on this machine has other weights."""
    file = locate_shipped_scores(model)
    if not is_shipped(model, file):
        return None
    shipped = _read_file(file)
    return None if has_other_weights(model, shipped.fingerprint) else shipped


def is_shipped(model: str, file: Path) -> bool:
    """Has the app this file, of a model whose name is one of those offered?"""
    return model in {one.id for one in WHEEL_MODELS} and file.is_file()


def has_other_weights(model: str, fingerprint: str) -> bool:
    """Does the model on this machine, if there is one, have other weights than were measured?"""
    try:
        folder = resolve_folder(model)
        is_here = folder.is_dir() and bool(list_weight_files(folder))
        return is_here and compute_fingerprint(folder) != fingerprint
    except (OSError, ModelError):
        return False  # no weights here that could be others


def locate_shipped_scores(model: str) -> Path:
    """The file of one model."""
    return FOLDER / f"{model.split('/')[-1]}.safetensors"


def compute_fingerprint(folder: Path) -> str:
    """Tells weights apart: the sizes of the files, and the first and last megabyte of each."""
    files = sorted(list_weight_files(folder))
    return _hash_files(
        tuple((file, file.stat().st_size, file.stat().st_mtime_ns) for file in files)
    )


@functools.lru_cache(maxsize=8)
def _hash_files(files: tuple[tuple[Path, int, int], ...]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for file, size, _time in files:
        digest.update(f"{size}".encode())
        with file.open("rb") as opened:
            digest.update(opened.read(_SAMPLE))
            opened.seek(max(0, size - _SAMPLE))
            digest.update(opened.read())
    return digest.hexdigest()


def read_tensors(file: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """What a file holds, and what it says of it."""
    with safe_open(file, "pt") as opened:
        tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
        return tensors, opened.metadata()


def write_tensors(
    file: Path, model: str, tensors: dict[str, Tensor], described: dict[str, str]
) -> Path:
    """A file all at once or not at all, which also says of which weights it was measured."""
    fingerprint = compute_fingerprint(resolve_folder(model))
    unfinished = file.with_suffix(f".{os.getpid()}")
    file.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, unfinished, {"model": model, "fingerprint": fingerprint, **described})
    unfinished.replace(file)
    return file


@functools.lru_cache(maxsize=4)
def _read_file(file: Path) -> ShippedScores:
    tensors, described = read_tensors(file)
    ids, levels = (tensors.pop(f"{_EXAMPLE}: {what}") for what in ("ids", "weights"))
    tokens = json.loads(described["tokens"])
    example = Example(tokens, ids, levels.float() / LEVELS, find_first_repeated(tokens))
    return ShippedScores(HeadScores(tensors), example, described["fingerprint"])


def find_first_repeated(tokens: list[str]) -> int:
    """The place of the first word that stood there before; 0 if none did."""
    words = [token.strip() for token in tokens]
    repeated = (n for n, word in enumerate(words) if word.isalnum() and word in words[:n])
    return next(repeated, 0)


def read_example(loaded: RealModel) -> Example:
    """How all heads read the example now."""
    from explainers.models.attention_hook import run_model

    ids = loaded.tokenizer(EXAMPLE, return_tensors="pt")["input_ids"]
    layers = run_model(
        loaded.model,
        record=lambda layer: layer.weights[0].float().cpu(),
        input_ids=ids.to(loaded.model.device),
    ).layers
    tokens = [str(loaded.tokenizer.decode([token])) for token in ids[0].tolist()]
    return Example(tokens, ids[0], torch.stack(layers), find_first_repeated(tokens))


def write_shipped_scores(model: str) -> Path:
    """Measure a model and write its file."""
    loaded, file = load_model(model), locate_shipped_scores(model)
    scores, example = measure_heads(loaded), read_example(loaded)
    tensors = {name: tensor.contiguous() for name, tensor in scores.tensors.items()}
    levels = (example.weights * LEVELS).round().to(torch.uint8)
    tensors |= {f"{_EXAMPLE}: ids": example.ids, f"{_EXAMPLE}: weights": levels}
    return write_tensors(file, model, tensors, {"tokens": json.dumps(example.tokens)})


def write_each(write: Callable[[str], Path]) -> None:
    """A file for every model that has one."""
    for model in WHEEL_MODELS:
        file = write(model.id)
        print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    write_each(write_shipped_scores)
