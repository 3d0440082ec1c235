"""Known scores of heads: of two models kept with the app, of others kept on this machine.

A file also says how each head reads one short text, and of which weights all this was measured.

>>> find_first_repeated(["The", " CEO", " and", " the", " CEO"])
4
"""

import contextlib
import functools
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from explainers.folders import ASSETS
from explainers.job_queue import Job
from explainers.messages import N_
from explainers.models import head_scores, probes
from explainers.models.head_scores import HeadScores, measure_heads
from explainers.models.load import load_model
from explainers.models.model_files import list_weight_files
from explainers.models.registry import WHEEL_MODELS, ModelError, locate_store, resolve_folder

FOLDER = ASSETS / "scores"
LEVELS = 255
"""A weight of the example is kept as a whole number up to this."""
EXAMPLE_PART = "example"
_SAMPLE = 1 << 20
Kept = TypeVar("Kept")


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


def read_of_same_weights(
    model: str, file: Path, read: Callable[[], tuple[Kept, str]]
) -> Kept | None:
    """What a file of the app holds, which `read` returns with the fingerprint of its weights.

    None where there is no such file, or the model on this machine has other weights.
    """
    if not is_shipped(model, file):
        return None
    kept, fingerprint = read()
    return None if has_other_weights(model, fingerprint) else kept


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


@functools.lru_cache(maxsize=4)
def _read_file(file: Path) -> ShippedScores:
    tensors, described = read_tensors(file)
    ids, levels = (tensors.pop(f"{EXAMPLE_PART}: {what}") for what in ("ids", "weights"))
    tokens = json.loads(described["tokens"])
    example = Example(tokens, ids, levels.float() / LEVELS, find_first_repeated(tokens))
    return ShippedScores(HeadScores(tensors), example, described["fingerprint"])


def find_first_repeated(tokens: list[str]) -> int:
    """The place of the first word that stood there before; 0 if none did."""
    words = [token.strip() for token in tokens]
    repeated = (n for n, word in enumerate(words) if word.isalnum() and word in words[:n])
    return next(repeated, 0)


RUNS = 3
"""How often `measure_heads` runs the model."""
_CODE = (head_scores, probes)

HeadScoresJob = Job[str, str, HeadScores]
"""Of a model's name; it reports in words how many layers have been read."""


def make_head_scores_job(model: str) -> HeadScoresJob:
    """The scores of one model."""
    return Job(model, find_scores, readable_errors=(ModelError,))


def find_scores(job: HeadScoresJob) -> HeadScores:
    """Measure all heads, or read what was measured for another visitor meanwhile."""

    def report(done: int, total: int) -> None:
        job.total = total
        job.report(N_("{done} of {all} layers", done=done, all=total))

    return read_scores(job.subject) or score_heads(job.subject, report)


def score_heads(model: str, report: Callable[[int, int], None]) -> HeadScores:
    """Measure and save; `report` is told how many layers have been read, of how many."""
    loaded, done = load_model(model), 0
    total = RUNS * loaded.model.config.num_hidden_layers

    def count(_: int) -> None:
        nonlocal done
        done += 1
        report(done, total)

    scores = measure_heads(loaded, count)
    save_scores(model, scores)
    return scores


def read_scores(model: str) -> HeadScores | None:
    """The scores of a model as they were measured before, by this code on these weights."""
    try:
        return HeadScores(load_file(locate_scores(model)))
    except (OSError, SafetensorError, ModelError):
        return None


def save_scores(model: str, scores: HeadScores) -> None:
    """For the next start; whole or not at all. A disk that is full costs only the time again."""
    file = locate_scores(model)
    unfinished = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        tensors = {name: tensor.contiguous() for name, tensor in scores.tensors.items()}
        save_file(tensors, unfinished)
        unfinished.replace(file)
    except (OSError, SafetensorError):
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)


def locate_scores(model: str) -> Path:
    """A name that is another one for other weights, other probes, or other code."""
    folder = resolve_folder(model)
    digest = hashlib.blake2b(torch.__version__.encode(), digest_size=12)
    code = [Path(str(module.__file__)) for module in _CODE]
    for file in [*code, probes.PASSAGES_FILE, probes.GRAMMAR_FILE]:
        digest.update(file.read_bytes())
    for file in list_weight_files(folder):
        status = file.stat()
        digest.update(f"{file}{status.st_size}{status.st_mtime_ns}".encode())
    return locate_store() / "scores" / f"{folder.name}.{digest.hexdigest()}.safetensors"
