"""Measurements in a thread of their own: never two at a time, to be watched and cancelled."""

import atexit
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Found = TypeVar("Found")
MOST_WAITING = 4
_TURN = threading.Lock()
_CLOSING = threading.Event()
_waiting = threading.Semaphore(MOST_WAITING)


@atexit.register
def _close() -> None:
    """Let the measurement end that is under way: torch aborts a process that exits in one."""
    _CLOSING.set()
    _TURN.acquire(timeout=5)


class BusyError(Exception):
    """So many visitors wait for their turn that another one is asked to come later."""


@dataclass
class Measuring(Generic[Found]):
    """So many `steps`, each of which `measure` yields; and what can be seen of them meanwhile.

    `state` is "waiting", "running", "done", "cancelled" or "failed".
    """

    steps: int
    measure: Callable[[], Iterable[Found]]
    found: list[Found] = field(default_factory=list)
    state: str = "waiting"
    error: str = ""
    _cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "cancelled", "failed")

    def start(self) -> "Measuring[Found]":
        """Take a place in the queue."""
        if not _waiting.acquire(blocking=False):
            raise BusyError(f"{MOST_WAITING} measurements wait already.")
        threading.Thread(target=self._run, name="measuring", daemon=True).start()
        return self

    def cancel(self) -> None:
        """Stop after the step that is under way, or do not begin."""
        self._cancelled.set()

    @property
    def _is_stopped(self) -> bool:
        return self._cancelled.is_set() or _CLOSING.is_set()

    def _run(self) -> None:
        try:
            while not self._is_stopped:
                if not _TURN.acquire(timeout=0.05):
                    continue
                try:
                    self._measure()
                finally:
                    _TURN.release()
                break
            is_done = len(self.found) == self.steps
            self.state = "done" if is_done else "cancelled"
        except Exception as error:  # whatever it is: the reader shall see it, not only the log
            self.error, self.state = f"{type(error).__name__}: {error}", "failed"
        finally:
            _waiting.release()

    def _measure(self) -> None:
        self.state = "running"
        for one in self.measure():
            self.found.append(one)
            if self._is_stopped:
                return
