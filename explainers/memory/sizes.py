"""Bytes as text: sizes in binary and decimal units, sums and products written out."""

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Literal

from explainers.messages import N_, Message


def write_sum(terms: Sequence[str]) -> str:
    """Terms joined by plus signs, as a text that can be translated."""
    return _join_terms(" + ", terms)


def write_product(*factors: str) -> str:
    """Factors joined by times signs, as a text that can be translated."""
    return _join_terms(" × ", factors)


def write_total(total: int) -> str:
    """A number of bytes, and the same in larger units."""
    return N_("{bytes:,} bytes = {size}", bytes=total, size=format_both_sizes(total))


def _join_terms(sign: str, terms: Sequence[str]) -> str:
    slots: dict[str, object] = {f"term{index}": term for index, term in enumerate(terms)}
    return Message(sign.join(f"{{{name}}}" for name in slots), slots)


UnitSystem = Literal["binary", "decimal"]
UNIT_STEPS: dict[UnitSystem, int] = {"binary": 1024, "decimal": 1000}
UNIT_NAMES: dict[UnitSystem, list[str]] = {
    "binary": ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"],
    "decimal": ["B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"],
}
UNIT_BYTES = {
    name: UNIT_STEPS[system] ** power
    for system in UNIT_STEPS
    for power, name in enumerate(UNIT_NAMES[system])
}
"""How many bytes each unit has."""


def format_size(count: int, system: UnitSystem = "binary", decimals: int = 2) -> str:
    """Bytes in their unit: 1073741824 is `1.00 GiB` (binary) or `1.07 GB` (decimal)."""
    if abs(count) < UNIT_STEPS[system]:
        return N_("{count} byte", count=count) if count == 1 else N_("{count} bytes", count=count)
    for name in UNIT_NAMES[system][1:]:
        quotient = round_quotient(count, UNIT_BYTES[name], decimals)
        if abs(quotient) < UNIT_STEPS[system]:
            break
    return f"{quotient:,f} {name}"


def format_both_sizes(count: int) -> str:
    """Bytes in binary and in decimal units; once where both are the same."""
    if abs(count) < UNIT_STEPS["decimal"]:
        return format_size(count)
    return f"{format_size(count)} = {format_size(count, 'decimal')}"


def round_quotient(numerator: int, denominator: int, decimals: int = 2) -> Decimal:
    """A quotient of whole numbers, rounded to so many `decimals` without using floats."""
    with localcontext(prec=200):
        exact = Decimal(numerator) / Decimal(denominator)
        return exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_EVEN)
