"""Waiting for what happens in another thread, without saying how long it takes."""

import time
from typing import Any

PATIENCE = 120
"""Seconds after which what is waited for will not come: only a failing test ever waits so long."""


def wait(until: Any) -> None:
    end = time.monotonic() + PATIENCE
    while not until():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.005)


def over(one):
    """The job, when it has ended in whatever way."""
    wait(lambda: one.is_over)
    return one
