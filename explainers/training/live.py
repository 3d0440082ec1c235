"""Training in front of the reader: in a thread of its own, and never two in this process."""

import atexit
import threading
import time
from dataclasses import dataclass, field

import torch

from explainers import trained
from explainers.attention import masks
from explainers.trained import Configuration, Learned
from explainers.training.loop import STEPS, Training, fresh, heads
from explainers.training.task import WORDS

SNAPSHOTS = 24
"""How often one looks at the weights on the way."""
MOST_WAITING = 8
_TURN = threading.Lock()
_CLOSING = threading.Event()
_waiting = threading.Semaphore(MOST_WAITING)


@atexit.register
def _close() -> None:
    """Let the batch end that is being learned from: torch aborts a process that exits in one."""
    _CLOSING.set()
    _TURN.acquire(timeout=5)


class BusyError(Exception):
    """So many visitors wait for their training that another one is asked to come later."""


@dataclass(frozen=True)
class Snapshot:
    """How the heads divided their attention after so many batches."""

    step: int
    weights: list[list[list[float]]]
    """(heads, q_len, kv_len)"""


@dataclass
class Job:
    """One training: what it shall learn, and what can be seen of it from other threads.

    It begins with random weights, or goes on with those of `begin`. Then the same heads learn
    from random weights `beside` it, from the same batches: what is what it began with worth?
    `state` is "waiting", "running", "done", "cancelled" or "failed".
    """

    configuration: Configuration
    seed: int
    tokens: tuple[str, ...]
    steps: int = STEPS
    begin: Learned | None = None
    state: str = "waiting"
    losses: list[float] = field(default_factory=list)
    losses_beside: list[float] = field(default_factory=list)
    snapshots: list[Snapshot] = field(default_factory=list)
    learned: Learned | None = None
    learned_beside: Learned | None = None
    error: str = ""
    _cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "cancelled", "failed")

    def start(self) -> "Job":
        """Take a place in the queue."""
        if not _waiting.acquire(blocking=False):
            raise BusyError(f"{MOST_WAITING} trainings wait already.")
        threading.Thread(target=self._run, name="training", daemon=True).start()
        return self

    def cancel(self) -> None:
        """Stop after the batch that is being learned from, or do not begin."""
        self._cancelled.set()

    @property
    def _is_stopped(self) -> bool:
        return self._cancelled.is_set() or _CLOSING.is_set()

    def _run(self) -> None:
        try:
            while not _TURN.acquire(timeout=0.05):
                if self._is_stopped:
                    break
            else:
                try:
                    self._train()
                finally:
                    _TURN.release()
            self.state = "cancelled" if self._is_stopped else "done"
        except Exception as error:  # whatever it is: the reader shall see it, not only the log
            self.error, self.state = f"{type(error).__name__}: {error}", "failed"
        finally:
            _waiting.release()

    def _train(self) -> None:
        self.state = "running"
        training = self._training()
        every = max(1, self.steps // SNAPSHOTS)
        for step in range(self.steps):
            if self._is_stopped:
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
        x, _ = trained.embedded(self.tokens, learned)
        mask = masks.build(masks.RULES[self.configuration.rule], len(x), len(x))
        weights = heads(x, learned.layer, mask).weights
        self.snapshots.append(Snapshot(step, weights.tolist()))
