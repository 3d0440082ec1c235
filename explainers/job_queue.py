"""Work in a thread of its own: one at a time, in the order in which it was asked for."""

import atexit
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Self

from explainers.messages import N_, Message, message_of

MOST_WAITING = 8


LOOK_UP = 1.0
"""Seconds after which those who wait look whether they are still wanted."""


class BusyError(Exception):
    """So many visitors wait for their turn that another one is asked to come later."""


class Turns:
    """A queue whose first is at work."""

    def __init__(self, most_waiting: int) -> None:
        self.most_waiting = most_waiting
        self.is_closing = False
        self._changed = threading.Condition()
        self._queue: deque[Work] = deque()
        atexit.register(self._close)

    def join(self, one: "Work") -> None:
        """Take the last place."""
        with self._changed:
            if len(self._queue) > self.most_waiting:  # the first of them does not wait
                raise BusyError(N_("{count} others wait already.", count=self.most_waiting))
            self._queue.append(one)

    def wait(self, one: "Work") -> None:
        """Return when it is this one's turn, or when nobody wants it any more."""
        with self._changed:
            while not (one.is_stopped or self._queue[0] is one):
                self._changed.wait(LOOK_UP)

    def leave(self, one: "Work") -> None:
        """Let the next one begin."""
        with self._changed:
            self._queue.remove(one)
            self._changed.notify_all()

    def before(self, one: "Work") -> int:
        """How many have to end before this one begins."""
        with self._changed:
            return self._queue.index(one) if one in self._queue else 0

    def wake(self) -> None:
        """Let those who wait see whether they are still wanted."""
        with self._changed:
            self._changed.notify_all()

    def _close(self) -> None:
        """Let the step end that is under way: torch aborts a process that exits in one."""
        with self._changed:
            self.is_closing = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._queue, timeout=5)


@dataclass(eq=False, kw_only=True)  # each is only itself: a queue looks for it among others
class Work:
    """One piece of work, and what can be seen of it from other threads.

    `state` is "waiting", "running", "done", "cancelled" or "failed". `asked` says what it is of, to
    be compared with what is asked for next. It stops by itself when it `is_wanted` no more. What
    went wrong is kept as a phrase, for whoever looks to hear in a language of their own: `error`
    with its kind, `problem` as a reader needs it.
    """

    turns: ClassVar[Turns] = Turns(MOST_WAITING)
    """One for all kinds of work: a training beside a measurement would spoil its times."""
    state: str = "waiting"
    for_readers: ClassVar[tuple[type[Exception], ...]] = ()
    """Errors whose words say all: their name would only be in the way."""
    error: str = ""
    problem: str = ""
    asked: object = None
    is_wanted: Callable[[], bool] = lambda: True
    _cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "cancelled", "failed")

    @property
    def is_stopped(self) -> bool:
        return self._cancelled.is_set() or self.turns.is_closing or not self.is_wanted()

    @property
    def before(self) -> int:
        return self.turns.before(self)

    @property
    def share(self) -> float:
        """How much of it is done, 0 to 1."""
        raise NotImplementedError

    @property
    def is_complete(self) -> bool:
        """Has everything been done, whatever was wished meanwhile?"""
        raise NotImplementedError

    def start(self) -> Self:
        """Take a place in the queue."""
        self.turns.join(self)
        try:
            threading.Thread(target=self._run, name=type(self).__name__, daemon=True).start()
        except RuntimeError:  # no thread to be had: nobody would ever leave this place
            self.turns.leave(self)
            raise
        return self

    def cancel(self) -> None:
        """Stop after the step that is under way, or do not begin."""
        self._cancelled.set()
        self.turns.wake()

    def _run(self) -> None:
        state = "failed"
        try:
            self.turns.wait(self)
            if not self.is_stopped:
                self.state = "running"
                self._work()
            state = "done" if self.is_complete else "cancelled"
        except Exception as error:  # whatever it is: the reader shall see it, not only the log
            kind, why = type(error).__name__, message_of(error)
            self.error = Message("{kind}: {why}", {"kind": kind, "why": why})
            self.problem = why if isinstance(error, self.for_readers) else self.error
        finally:
            self.turns.leave(self)
            self.state = state  # last: who sees that it is over finds its place free

    def _work(self) -> None:
        raise NotImplementedError
