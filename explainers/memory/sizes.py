"""Bytes as a reader wants them: one function prints them, and says by what it divided."""

from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Literal

from explainers.phrase import phrase

System = Literal["binary", "decimal"]
STEPS: dict[System, int] = {"binary": 1024, "decimal": 1000}
NAMES: dict[System, list[str]] = {
    "binary": ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"],
    "decimal": ["B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"],
}
UNITS = {
    name: STEPS[system] ** power for system in STEPS for power, name in enumerate(NAMES[system])
}
"""Bytes in each unit."""


def size(count: int, system: System = "binary", places: int = 2) -> str:
    """1073741824 as `1.00 GiB` (of 1,024³) or `1.07 GB` (of 1,000³), never as the other."""
    if abs(count) < STEPS[system]:
        return (
            phrase("{count} byte", count=count)
            if count == 1
            else phrase("{count} bytes", count=count)
        )
    for name in NAMES[system][1:]:
        shown = quotient(count, UNITS[name], places)
        if abs(shown) < STEPS[system]:
            break
    return f"{shown:,f} {name}"


def both(count: int) -> str:
    """The same number of bytes in both systems; once where they are the same."""
    if abs(count) < STEPS["decimal"]:
        return size(count)
    return f"{size(count)} = {size(count, 'decimal')}"


def quotient(numerator: int, denominator: int, places: int = 2) -> Decimal:
    """A quotient of whole numbers to so many decimals, without a float on the way."""
    with localcontext(prec=200):
        exact = Decimal(numerator) / Decimal(denominator)
        return exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN)
