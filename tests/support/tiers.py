"""What `make test` runs, and what waits for `make test-all`.

Marks of tests:

- `nightly(reason)`: runs only where everything does.
- `rotating(share)`: of a function's cases one in `share` runs, another one with each commit.
"""

import os
import subprocess
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EVERYTHING = os.environ.get("ATTENTION_ALL") == "1"
MARKS = (
    "nightly(reason): runs in `make test-all` only; the reason says why it can wait",
    "rotating(share): one in `share` of its cases runs, by commit; all of them in `make test-all`",
)


def read_turn() -> str:
    """Whose turn it is: the commit, or what ATTENTION_TURN names to repeat a run."""
    named = os.environ.get("ATTENTION_TURN")
    if named:
        return named
    asked = ["git", "rev-parse", "--short=8", "HEAD"]
    try:
        answer = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:  # no git: a folder that was unpacked
        return "0"
    return answer.stdout.strip() or "0"


TURN = read_turn()


def is_its_turn(case: int, share: int) -> bool:
    """Whether a case of a function, counted from 0, runs at this commit."""
    return (case + zlib.crc32(TURN.encode())) % share == 0


def pytest_configure(config: pytest.Config) -> None:
    for mark in MARKS:
        config.addinivalue_line("markers", mark)


def pytest_report_header() -> str:
    if EVERYTHING:
        return "everything runs"
    return f"cases that rotate: ATTENTION_TURN={TURN} (everything runs with ATTENTION_ALL=1)"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what waits, unless everything runs or a test was asked for by its whole name."""
    if EVERYTHING:
        return
    cases: Counter[str] = Counter()
    kept: list[pytest.Item] = []
    waiting: list[pytest.Item] = []
    for item in items:
        rotating = item.get_closest_marker("rotating")
        function = item.nodeid.split("[")[0]
        waits = item.get_closest_marker("nightly") is not None
        if rotating is not None:
            waits |= not is_its_turn(cases[function], *rotating.args)
            cases[function] += 1
        (waiting if waits and item.nodeid not in config.args else kept).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=waiting)


def take_turns(cases: Sequence[Any], count: int = 1) -> list[Any]:
    """A few of the cases inside of a test, others with each commit; where everything runs, all."""
    if EVERYTHING or count >= len(cases):
        return list(cases)
    first = zlib.crc32(f"inside, {TURN}".encode())  # apart from the turns of the test itself
    return [cases[(first + place) % len(cases)] for place in range(count)]
