"""Replicas behind nginx with people on them: how long is somebody away when one is killed?

The proxy is that of `tests/deploy`, the configuration is that of `deploy/`. A visitor waits as a
browser does before it connects again, and is back when its page is drawn.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from websockets.exceptions import ConnectionClosed, WebSocketException

from benchmarks import report
from tests.deploy.conftest import run_proxy
from tests.deploy.replicas import NAMES, read_seat
from tests.deploy.test_replicas import PLACES
from tests.support.forged import Forger
from tests.support.waiting import wait

AT_ONCE = 8
"""How many visitors come at the same moment."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 4
"""Seconds that a browser waits at most, at first and later, before it tries to connect again."""


class Visitor:
    """One who looks at a page, and comes back whenever the connection breaks."""

    def __init__(self, address: str, page: str, query: str) -> None:
        self.address, self.page, self.query = address, page, query
        self.seat = self.session = ""
        self.absences: list[float] = []
        """Seconds, each time, until the picture was there again."""
        self.come()

    def come(self) -> None:
        """Connect and have the page drawn."""
        seat = {"Cookie": f"replica={self.seat}"}
        self.open = Forger(self.address, self.session, additional_headers=seat)
        self.pictures = self.open.run(self.page, self.query).pictures
        self.seat = read_seat(self.open.headers) or self.seat
        self.session, self.is_here = self.open.session, True

    def stay(self, over: threading.Event) -> None:
        """Be there until an event."""
        while not over.is_set():
            try:
                self.open.socket.recv(timeout=0.1)
            except TimeoutError:
                continue
            except ConnectionClosed:
                self._return()
        self.open.close()

    def _return(self) -> None:
        self.is_here, before, longest = False, time.monotonic(), FIRST_WAIT
        while not self.is_here:
            time.sleep(random.uniform(longest / 2, longest))
            longest = min(LONGEST_WAIT, 2 * longest)
            with contextlib.suppress(OSError, EOFError, WebSocketException):
                self.come()
        self.absences.append(time.monotonic() - before)


@contextlib.contextmanager
def audience(proxy: Any, count: int) -> Iterator[list[Visitor]]:
    """Visitors on several pages."""
    places, over = itertools.islice(itertools.cycle(PLACES), count), threading.Event()
    with ThreadPoolExecutor(AT_ONCE) as door:
        visitors = list(door.map(lambda place: Visitor(proxy.address, *place), places))
    with ThreadPoolExecutor(count) as hall:
        for visitor in visitors:
            hall.submit(visitor.stay, over)
        try:
            yield visitors
        finally:
            over.set()


def meet(visitors: list[Visitor], name: str) -> None:
    """Wait until everybody is on one replica."""
    wait(lambda: all(visitor.seat == name and visitor.is_here for visitor in visitors))


def kill_one(proxy: Any, visitors: list[Visitor]) -> None:
    """The visitors of one replica have to go to the other one, all at once."""
    proxy.replicas[NAMES[0]].stop()
    meet(visitors, NAMES[1])


def restart_in_turn(proxy: Any, visitors: list[Visitor]) -> None:
    """One replica after the other is asked to end, left by everybody, and started again."""
    for name, other in (NAMES, NAMES[::-1]):
        replica = proxy.replicas[name]
        replica.stop(signal.SIGTERM)
        meet(visitors, other)
        replica.start()
        replica.wait()


WAYS: dict[str, Callable[[Any, list[Visitor]], None]] = {
    "one of two is killed": kill_one,
    "both are restarted in turn": restart_in_turn,
}


def measure_absences(proxy: Any, count: int, name: str) -> str:
    """A row of the table."""
    with audience(proxy, count) as visitors:
        before = [visitor.pictures for visitor in visitors]
        WAYS[name](proxy, visitors)
        away = [absence for visitor in visitors for absence in visitor.absences]
        same = sum(visitor.pictures == one for visitor, one in zip(visitors, before, strict=True))
    return f" {name} | {count} | {len(away)} | {report.quantiles(away, 0.5, 0.95, 1)} | {same} "


def measure(visitors: int) -> str:
    """The report's section."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, run_proxy(Path(folder)) as proxy:
        for name in WAYS:
            for replica in proxy.replicas.values():
                if replica.process is None or replica.process.poll() is not None:
                    replica.start()
            for replica in proxy.replicas.values():
                replica.wait()
            rows.append(measure_absences(proxy, visitors, name))
            print(rows[-1], flush=True)
        for replica in proxy.replicas.values():
            replica.stop()
    return report.section(
        "Replicas",
        None,
        "Milliseconds from when a connection broke until the same page was drawn by the other "
        "replica, for each time that somebody was away; at the end, how many see the picture that "
        "they saw before. A browser waits up to 0.5 s before its first try, up to 4 s later. Aim: "
        "5 s. nginx, both replicas and all visitors share the machine.",
        " what happens | visitors | times away | p50 | p95 | most | same picture ",
        rows,
    )


if __name__ == "__main__":
    options = report.options(__doc__, 40, "visitors")
    report.publish(measure(options.visitors), options.write)
