"""Measuring all heads of a model once: in the background, and kept on disk for the next start."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from explainers.job_queue import Work
from explainers.models import grammar_heads, head_scores, probes
from explainers.models.head_scores import HeadScores, measure_heads
from explainers.models.load import load_model
from explainers.models.model_files import list_weight_files
from explainers.models.registry import ModelError, locate_store, resolve_folder

RUNS = 3
"""How often `measure` runs the model."""
_CODE = (head_scores, probes, grammar_heads)


class UnwantedError(Exception):
    """Nobody wants the scores any more."""


@dataclass(eq=False)
class Scoring(Work):
    """The scores of one model; `done` of `steps` layers have been read."""

    for_readers: ClassVar[tuple[type[Exception], ...]] = (ModelError,)
    named: str
    done: int = 0
    steps: int | None = None
    scores: HeadScores | None = None

    @property
    def is_complete(self) -> bool:
        return self.scores is not None

    @property
    def share(self) -> float:
        return 1.0 if self.scores else self.done / (self.steps or 1)

    def _work(self) -> None:
        self.scores = kept(self.named)
        if self.scores:  # somebody who was first in the queue wanted the same
            return
        loaded = load_model(self.named)
        self.steps = RUNS * loaded.model.config.num_hidden_layers
        try:
            scores = measure_heads(loaded, self._say)
        except UnwantedError:
            return
        keep(self.named, scores)
        self.scores = scores

    def _say(self, _: int) -> None:
        self.done += 1
        if self.is_stopped:
            raise UnwantedError


def kept(named: str) -> HeadScores | None:
    """The scores of a model as they were measured before, by this code on these weights."""
    try:
        return HeadScores(load_file(file_of(named)))
    except (OSError, SafetensorError, ModelError):
        return None


def keep(named: str, scores: HeadScores) -> None:
    """For the next start; whole or not at all. A disk that is full costs only the time again."""
    file = file_of(named)
    begun = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        save_file({name: one.contiguous() for name, one in scores.tensors.items()}, begun)
        begun.replace(file)
    except OSError:
        begun.unlink(missing_ok=True)


def file_of(named: str) -> Path:
    """A name that is another one for other weights, other probes, or other code."""
    folder = resolve_folder(named)
    known = hashlib.blake2b(torch.__version__.encode(), digest_size=12)
    code = [Path(str(module.__file__)) for module in _CODE]
    for file in [*code, probes.PASSAGES_FILE, grammar_heads.GRAMMAR_FILE]:
        known.update(file.read_bytes())
    for file in list_weight_files(folder):
        about = file.stat()
        known.update(f"{file}{about.st_size}{about.st_mtime_ns}".encode())
    return locate_store() / "scores" / f"{folder.name}.{known.hexdigest()}.safetensors"
