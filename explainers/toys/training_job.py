"""Training in front of the reader: in a thread of its own, one at a time."""

import time
from dataclasses import dataclass, field
from typing import NamedTuple

import torch

from explainers.attention import masks
from explainers.job_queue import Work
from explainers.toys import trained_heads
from explainers.toys.task import WORDS
from explainers.toys.train import STEPS, Training, fresh, heads
from explainers.toys.trained_heads import Configuration, Learned

SNAPSHOTS = 24
"""How often one looks at the weights on the way."""


class Asked(NamedTuple):
    """What a training is of."""

    configuration: Configuration
    seed: int
    tokens: tuple[str, ...]


@dataclass(frozen=True)
class Snapshot:
    """How the heads divided their attention after so many batches."""

    step: int
    weights: list[list[list[float]]]
    """(heads, q_len, kv_len)"""


@dataclass(eq=False)
class Job(Work):
    """One training: what it shall learn, and what can be seen of it from other threads.

    It begins with random weights, or goes on with those of `begin`. Then the same heads learn
    from random weights `beside` it, from the same batches: what is what it began with worth?
    """

    configuration: Configuration
    seed: int
    tokens: tuple[str, ...]
    steps: int = STEPS
    begin: Learned | None = None
    losses: list[float] = field(default_factory=list)
    losses_beside: list[float] = field(default_factory=list)
    snapshots: list[Snapshot] = field(default_factory=list)
    learned: Learned | None = None
    learned_beside: Learned | None = None

    @property
    def share(self) -> float:
        return len(self.losses) / self.steps

    @property
    def is_complete(self) -> bool:
        return self.learned is not None

    def _work(self) -> None:
        training = self._training()
        every = max(1, self.steps // SNAPSHOTS)
        for step in range(self.steps):
            if self.is_stopped:
                return
            if step % every == 0:
                self._look(training, step)
            started = time.perf_counter()
            loss, *beside = training.step()
            self.losses_beside += beside  # first: who counts the losses finds as many of these
            self.losses.append(loss)
            # Another visitor's page gets the interpreter for as long as this batch had it.
            time.sleep(time.perf_counter() - started)
        self._look(training, self.steps)
        if self.begin:
            self.learned_beside = training.learned(1)
        self.learned = training.learned(0)

    def _training(self) -> Training:
        if not self.begin:
            return Training(self.configuration, [self.seed])
        drawn = fresh(self.configuration, self.seed)
        beside = Learned.of(WORDS, drawn, self.configuration.head_dim)
        return Training(self.configuration, [self.seed] * 2, [self.begin, beside])

    @torch.no_grad()
    def _look(self, training: Training, step: int) -> None:
        learned = training.learned(0)
        x, _ = trained_heads.embedded(self.tokens, learned)
        mask = masks.build(masks.RULES[self.configuration.rule], len(x), len(x))
        weights = heads(x, learned.layer, mask).weights
        self.snapshots.append(Snapshot(step, weights.tolist()))
