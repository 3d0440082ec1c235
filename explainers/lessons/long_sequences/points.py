"""Measured points, and the lines that theory draws through them."""

from explainers.device import best_device
from explainers.lessons.long_sequences.measure import HEAD_DIM, WAYS, Measured, blocks
from explainers.lessons.long_sequences.sizes import plain_bytes, tiled_bytes
from explainers.memory.sizes import size

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


def line(found: list[Measured], length: int) -> str:
    """A row of the table: seconds and bytes of every way, and the largest difference."""
    known = {one.way: one for one in found if one.length == length}
    ways = [known.get(way, Measured(way, length)) for way in WAYS]
    cells = [f"{one.seconds:.4f} s" if one.seconds is not None else "–" for one in ways]
    cells += [size(one.peak) if one.peak is not None else "–" for one in ways]
    differences = [one.difference for one in ways[1:] if one.difference is not None]
    cells.append(f"{max(differences):.2g}" if differences else "–")
    return f"| {length:,} | " + " | ".join(cells) + " |"
