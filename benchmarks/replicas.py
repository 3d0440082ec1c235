"""Replicas behind nginx with people on them: how long is somebody away when one is killed?

The proxy and the visitors are those of `tests/deploy`, the configuration is that of `deploy/`. A
visitor waits as a browser does before it connects again, and is back when its page is drawn.
"""

from __future__ import annotations

import asyncio
import signal
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from benchmarks import report
from tests.deploy.conftest import run_proxy
from tests.deploy.replicas import NAMES
from tests.deploy.test_replicas import audience, meet


async def kill_one(proxy: Any, visitors: Any) -> None:
    """The visitors of one replica have to go to the other one, all at once."""
    proxy.replicas[NAMES[0]].stop()
    await meet(visitors, NAMES[1])


async def restart_in_turn(proxy: Any, visitors: Any) -> None:
    """One replica after the other is asked to end, left by everybody, and started again."""
    for name, other in (NAMES, NAMES[::-1]):
        replica = proxy.replicas[name]
        await asyncio.to_thread(replica.stop, signal.SIGTERM)
        await meet(visitors, other)
        replica.start()
        await asyncio.to_thread(replica.wait)


WAYS: dict[str, Callable[[Any, Any], Awaitable[None]]] = {
    "one of two is killed": kill_one,
    "both are restarted in turn": restart_in_turn,
}


async def measure_absences(proxy: Any, count: int, name: str) -> str:
    """A row of the table."""
    async with audience(proxy, count) as visitors:
        before = [visitor.picture for visitor in visitors]
        await WAYS[name](proxy, visitors)
        away = [absence for visitor in visitors for absence in visitor.absences]
        same = sum(visitor.picture == one for visitor, one in zip(visitors, before, strict=True))
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
            rows.append(asyncio.run(measure_absences(proxy, visitors, name)))
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
