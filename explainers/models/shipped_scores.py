"""Known scores of heads: of two models kept with the app, of others kept on this machine.

A file also says how each head reads one short text, and of which weights all this was measured.

>>> find_first_repeated(["The", " CEO", " and", " the", " CEO"])
4
"""

import contextlib
import functools
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from explainers import kept
from explainers.job_queue import Job
from explainers.messages import N_
from explainers.models import head_scores, probes
from explainers.models.head_scores import HeadScores, measure_heads
from explainers.models.load import load_model
from explainers.models.model_files import list_weight_files
from explainers.models.registry import WHEEL_MODELS, ModelError, locate_store, resolve_folder

LEVELS = 255
"""A weight of the example is kept as a whole number up to this."""
EXAMPLE_PART = "example"
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
    """What came with the app."""

    scores: HeadScores
    example: Example


def find_known_scores(model: str) -> HeadScores | None:
    """The scores of a model: as measured on this machine, else as they came with the app."""
    shipped = None if (measured := read_scores(model)) else read_shipped_scores(model)
    return measured or (shipped.scores if shipped else None)


def read_shipped_scores(model: str) -> ShippedScores | None:
    """What came with the app, unless the model on this machine has other weights."""
    if model not in {one.id for one in WHEEL_MODELS}:
        return None
    name = name_scores(model)
    return _read_scores(name) if holds_for(model, name) else None


def name_scores(model: str) -> str:
    """What the scores of a model are kept under."""
    return f"scores/{model.split('/')[-1]}"


def holds_for(model: str, name: str) -> bool:
    """Was this measured of the model, and has it no other weights on this machine?"""
    try:
        measured = kept.read(name)
    except FileNotFoundError:  # a model that is new in the registry
        return False
    return measured.origin == model and not has_other_weights(model, measured.fingerprint)


def has_other_weights(model: str, fingerprint: str) -> bool:
    """Does the model on this machine, if there is one, have other weights than were measured?"""
    try:
        folder = resolve_folder(model)
        is_here = folder.is_dir() and bool(list_weight_files(folder))
        return is_here and compute_fingerprint(folder) != fingerprint
    except (OSError, ModelError):
        return False  # no weights here that could be others


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


@functools.lru_cache(maxsize=4)
def _read_scores(name: str) -> ShippedScores:
    measured = kept.read(name)
    tensors, tokens = measured.read_tensors(), measured.numbers["tokens"]
    ids, levels = (tensors.pop(f"{EXAMPLE_PART}: {what}") for what in ("ids", "weights"))
    example = Example(tokens, ids, levels.float() / LEVELS, find_first_repeated(tokens))
    return ShippedScores(HeadScores(tensors), example)


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
