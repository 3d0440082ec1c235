"""All heads of a model measured once, in the background, and kept on disk for the next start."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from explainers.job_queue import Job
from explainers.messages import N_
from explainers.models import grammar_heads, head_scores, probes
from explainers.models.head_scores import HeadScores, measure_heads
from explainers.models.load import load_model
from explainers.models.model_files import list_weight_files
from explainers.models.registry import ModelError, locate_store, resolve_folder

RUNS = 3
"""How often `measure_heads` runs the model."""
_CODE = (head_scores, probes, grammar_heads)

HeadScoresJob = Job[str, str, HeadScores]
"""Of a model's name; it reports in words how many layers have been read."""


def make_head_scores_job(model: str, is_again: bool = False) -> HeadScoresJob:
    """The scores of one model; measured `is_again` if they were kept before."""
    make = measure_again if is_again else find_scores
    return Job(model, make, readable_errors=(ModelError,))


def find_scores(job: HeadScoresJob) -> HeadScores:
    """Measure all heads, or read what was measured for another visitor meanwhile."""
    return read_scores(job.subject) or measure_again(job)


def measure_again(job: HeadScoresJob) -> HeadScores:
    """Measure all heads, whatever was kept."""

    def report(done: int, total: int) -> None:
        job.total = total
        job.report(N_("{done} of {all} layers", done=done, all=total))

    return score_heads(job.subject, report)


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
    except OSError:
        unfinished.unlink(missing_ok=True)


def locate_scores(model: str) -> Path:
    """A name that is another one for other weights, other probes, or other code."""
    folder = resolve_folder(model)
    digest = hashlib.blake2b(torch.__version__.encode(), digest_size=12)
    code = [Path(str(module.__file__)) for module in _CODE]
    for file in [*code, probes.PASSAGES_FILE, grammar_heads.GRAMMAR_FILE]:
        digest.update(file.read_bytes())
    for file in list_weight_files(folder):
        status = file.stat()
        digest.update(f"{file}{status.st_size}{status.st_mtime_ns}".encode())
    return locate_store() / "scores" / f"{folder.name}.{digest.hexdigest()}.safetensors"
