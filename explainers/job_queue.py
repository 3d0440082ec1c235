"""Computations that take seconds: one after another in another thread, watched and cancelled."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Self, TypeVar

from explainers.messages import Message, SaidError, get_message

MOST_WAITING = 8
State = Literal["waiting", "running", "done", "cancelled", "failed"]
Subject = TypeVar("Subject")
Report = TypeVar("Report")
Result = TypeVar("Result")


class BusyError(SaidError):
    """So many visitors wait for their turn that another one is asked to come later."""


class UnwantedError(Exception):
    """Nobody wants the result of a job any more."""


class JobQueue:
    """Runs one job at a time, in the order in which they were added."""

    def __init__(self) -> None:
        self.is_closing = False
        self._executor = ThreadPoolExecutor(max_workers=1)
        self._jobs: list[Job[Any, Any, Any]] = []
        self._lock = threading.RLock()
        # An exit waits for the executor's thread, before `atexit` could tell that one to stop.
        threading._register_atexit(self.close)  # type: ignore[attr-defined]

    def add(self, job: "Job[Any, Any, Any]") -> None:
        """Give it the last place."""
        with self._lock:
            jobs = self.list_jobs()
            if len(jobs) > MOST_WAITING:  # the first of them does not wait
                raise BusyError("{count} others wait already.", count=MOST_WAITING)
            job.end = self._executor.submit(job.run)
            self._jobs = [*jobs, job]

    def list_jobs(self) -> "list[Job[Any, Any, Any]]":
        """The one that runs and those that wait, without those whose visitors have left."""
        with self._lock:
            for job in self._jobs:
                if job.state == "waiting" and not job.is_wanted():
                    job.cancel()
            return [job for job in self._jobs if not job.is_over]

    def close(self) -> None:
        """End all jobs at their next step: torch aborts a process that exits in the middle."""
        self.is_closing = True


COMPUTATIONS = JobQueue()
"""One for all kinds of computation: a training beside a measurement would spoil its times."""


@dataclass(eq=False)  # each is only itself: a queue looks for it among others
class Job(Generic[Subject, Report, Result]):
    """One computation, and what can be seen of it from other threads.

    `work` is given the job: it says with `report` what each step came to, and returns the result.
    `total` is the number of reports, 0 as long as it is not known. The words of `readable_errors`
    are written for readers; any other error is told with its kind.
    """

    subject: Subject
    work: "Callable[[Job[Subject, Report, Result]], Result]"
    total: int = 0
    queue: JobQueue = COMPUTATIONS
    readable_errors: tuple[type[Exception], ...] = (SaidError,)
    has_visitor: Callable[[], bool] = lambda: True
    give_way: Callable[[], None] = lambda: None
    """Returns when nothing that is more urgent would be slowed down by the work."""
    reports: list[Report] = field(default_factory=list)
    result: Result | None = None
    problem: str = ""
    end: "Future[State]" = field(default_factory=Future)
    _is_cancelled: bool = False

    @property
    def state(self) -> State:
        if self.end.cancelled():
            return "cancelled"
        if self.end.done():
            return "failed" if self.end.exception() else self.end.result()
        return "running" if self.end.running() else "waiting"

    @property
    def is_over(self) -> bool:
        return self.end.done()

    @property
    def share(self) -> float:
        """How much of it is done, 0 to 1."""
        return min(1.0, len(self.reports) / self.total) if self.total else 0.0

    @property
    def count_before(self) -> int:
        """How many have to end before this one begins."""
        jobs = self.queue.list_jobs()
        return jobs.index(self) if self in jobs else 0

    def is_wanted(self) -> bool:
        """Does its visitor still wait for it?"""
        return not self._is_cancelled and not self.queue.is_closing and self.has_visitor()

    def start(self) -> Self:
        """Take a place in the queue."""
        try:
            self.queue.add(self)
        except RuntimeError:  # no thread to be had: a later one would find it in the queue
            self.cancel()
            raise
        return self

    def cancel(self) -> None:
        """Stop after the step that is under way, or do not begin."""
        self._is_cancelled = True
        self.end.cancel()

    def report(self, report: Report) -> None:
        """Tell what a step came to, and go on only if somebody wants the others."""
        self.reports.append(report)
        if len(self.reports) != self.total:  # after the last one it is too late to cancel
            self.check()

    def check(self) -> None:
        """Go on only if somebody wants the result; those who wait may leave meanwhile."""
        self.queue.list_jobs()
        if not self.is_wanted():
            raise UnwantedError

    def run(self) -> State:
        """Do the work; how it ended is known when its place in the queue is free."""
        try:
            self.check()
            self.give_way()
            self.check()  # who has gone meanwhile waits no more
            self.result = self.work(self)
        except UnwantedError:
            return "cancelled"
        # Whatever it is, the reader shall see it, and the next job begin: a library that is written
        # in Rust panics with what is no `Exception`.
        except BaseException as error:
            kind, why = type(error).__name__, get_message(error)
            told = Message("{kind}: {why}", {"kind": kind, "why": why})
            self.problem = why if isinstance(error, self.readable_errors) else told
            return "failed"
        return "done"


def report_each(
    find: Callable[[], Iterable[Report | None]],
) -> Callable[[Job[Any, Report, None]], None]:
    """Work that reports whatever `find` yields; at None it may only be cancelled."""

    def work(job: Job[Any, Report, None]) -> None:
        for found in find():
            if found is None:
                job.check()
            else:
                job.report(found)

    return work
