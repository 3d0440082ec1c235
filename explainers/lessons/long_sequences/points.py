"""Measured points, and the lines that theory draws through them."""

from collections.abc import Callable

from explainers.device import best_device
from explainers.lessons.long_sequences.measure import HEAD_DIM, WAYS, Measured, blocks
from explainers.lessons.long_sequences.sizes import plain_bytes, tiled_bytes
from explainers.memory.sizes import size

UNKNOWN = "–"
Point = tuple[int, float, str, bool]
"""Tokens, an amount, the way that it was measured for, and whether it is theory's."""


def times(found: list[Measured]) -> list[Point]:
    """Milliseconds; theory's line rises with n² and goes through plain attention's last point."""
    points = [(m.length, m.seconds * 1000, m.way, False) for m in found if m.seconds is not None]
    plain = [(length, taken) for length, taken, way, _ in points if way == WAYS[0]]
    if plain:
        length, taken = plain[-1]
        points += [(m, taken * (m / length) ** 2, WAYS[0], True) for m, *_ in points]
    return points


def peaks(found: list[Measured]) -> list[Point]:
    """MiB; the lines of theory are not fitted to anything."""
    points = [(m.length, m.peak / 2**20, m.way, False) for m in found if m.peak is not None]
    if points:
        for n in sorted({one.length for one in found}):
            points.append((n, plain_bytes(n, HEAD_DIM) / 2**20, WAYS[0], True))
            tiled = tiled_bytes(n, HEAD_DIM, *blocks(best_device()))
            points.append((n, tiled / 2**20, WAYS[1], True))
    return points


def table(found: list[Measured], cells: Callable[[list[Measured]], list[str]]) -> str:
    """A row for each length: what `cells` says of the ways, as far as they were measured."""
    rows = []
    for length in sorted({one.length for one in found}):
        known = {one.way: one for one in found if one.length == length}
        ways = [known.get(way, Measured(way, length)) for way in WAYS]
        rows.append(f"| {length:,} | " + " | ".join(cells(ways)) + " |")
    return "\n".join(rows)


def seconds_of(ways: list[Measured]) -> list[str]:
    """Seconds of each way."""
    return [UNKNOWN if one.seconds is None else f"{one.seconds:.4f}" for one in ways]


def bytes_of(ways: list[Measured]) -> list[str]:
    """The most bytes that each way took."""
    return [UNKNOWN if one.peak is None else size(one.peak) for one in ways]


def differences_of(ways: list[Measured]) -> list[str]:
    """The largest of any way from the first that fitted."""
    differences = [one.difference for one in ways[1:] if one.difference is not None]
    return [f"{max(differences):.2g}" if differences else UNKNOWN]
