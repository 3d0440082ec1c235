"""Training in front of the reader: its start, what each batch comes to, and what is learned."""

import time
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch

from explainers.job_queue import Job
from explainers.toys.layers import build_mask
from explainers.toys.learned import Learned
from explainers.toys.task import WORDS
from explainers.toys.train import STEPS, Training, fresh, heads
from explainers.toys.trained_heads import Configuration

SNAPSHOTS = 24
"""How often one looks at the weights on the way."""


class TrainingRequest(NamedTuple):
    """Which heads learn, from which seed, and on which text they are watched."""

    configuration: Configuration
    seed: int
    tokens: tuple[str, ...]


@dataclass(frozen=True)
class Snapshot:
    """How the heads divided their attention after so many batches."""

    step: int
    weights: list[list[list[float]]]
    """(heads, q_len, kv_len)"""


class TrainingStep(NamedTuple):
    """What a batch came to: its losses, and perhaps how the heads attend after it.

    The first step has no batch. A second loss is that of heads which start from random weights
    beside those that do not.
    """

    losses: tuple[float, ...]
    snapshot: Snapshot | None


TrainingJob = Job[TrainingRequest, TrainingStep, tuple[Learned, ...]]
"""Its result has what was learned, one for each loss of a step."""


def make_training_job(request: TrainingRequest, steps: int = STEPS) -> TrainingJob:
    """Heads that learn from random weights."""
    return Job(request, partial(train, steps=steps), steps + 1)


def train(job: TrainingJob, steps: int, begin: Learned | None = None) -> tuple[Learned, ...]:
    """Learn from as many batches.

    Heads that start from `begin` have others beside them: the same heads learn from the same
    batches, from random weights, which shows what `begin` is worth.
    """
    training = start_training(job.subject, begin)
    every = max(1, steps // SNAPSHOTS)
    job.report(TrainingStep((), take_snapshot(job.subject, training, 0)))
    for step in range(1, steps + 1):
        started = time.perf_counter()
        losses = training.step()
        seconds = time.perf_counter() - started
        is_seen = step % every == 0 or step == steps
        snapshot = take_snapshot(job.subject, training, step) if is_seen else None
        job.report(TrainingStep(tuple(losses), snapshot))
        time.sleep(seconds)  # another visitor's page gets the interpreter for as long
    return tuple(training.learned(place) for place in range(2 if begin else 1))


def start_training(request: TrainingRequest, begin: Learned | None) -> Training:
    """From random weights; or from `begin`, and beside it from random weights."""
    configuration, seed = request.configuration, request.seed
    if not begin:
        return Training(configuration, [seed])
    beside = Learned.of(WORDS, fresh(configuration, seed), configuration.head_dim)
    return Training(configuration, [seed] * 2, [begin, beside])


@torch.no_grad()
def take_snapshot(request: TrainingRequest, training: Training, step: int) -> Snapshot:
    """How the heads divide their attention over the text that is watched."""
    learned = training.learned(0)
    x, _ = learned.read_words(request.tokens)
    mask = build_mask(request.configuration.rule, x)
    return Snapshot(step, heads(x, learned.layer, mask).weights.tolist())


def list_losses(job: TrainingJob, place: int = 0) -> list[float]:
    """Of each batch so far; the heads beside are in place 1."""
    return [step.losses[place] for step in list(job.reports) if step.losses]


def list_snapshots(job: TrainingJob) -> list[Snapshot]:
    """All that were taken so far."""
    return [step.snapshot for step in list(job.reports) if step.snapshot]
