"""How long a model takes to come into memory, as it was measured on this machine."""

import contextlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager

from explainers.models.registry import locate_store

FILE = "seconds.json"
"""In the folder of all models: the seconds that the last loading of each took."""


def find_seconds(model: str) -> float | None:
    """What loading this model took the last time, with all that had to be imported; None if new."""
    return _read().get(model)


@contextmanager
def measure_loading(model: str) -> Iterator[None]:
    """Keep the seconds that the block takes, where they can be kept."""
    begun = time.monotonic()
    yield
    seconds = _read() | {model: round(time.monotonic() - begun, 1)}
    with contextlib.suppress(OSError):
        (locate_store() / FILE).write_text(json.dumps(seconds), encoding="utf-8")


def _read() -> dict[str, float]:
    with contextlib.suppress(OSError, TypeError, ValueError):
        kept = json.loads((locate_store() / FILE).read_text(encoding="utf-8"))
        return {str(name): float(seconds) for name, seconds in dict(kept).items()}
    return {}
