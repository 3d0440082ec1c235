"""Numbers: those from readers checked, and bytes printed with the unit they are divided by."""

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Any, Literal

from explainers.messages import N_, Message


def whole(name: str, value: object, least: int = 1) -> int:
    """The value if it is a whole number of at least `least`; floats are refused, not rounded."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise must_be(N_("a whole number from {least} on", least=least), name, value)
    return value


def must_be(what: str, name: str, value: object) -> ValueError:
    """An error that says what a field must be, and what it is."""
    told = what if isinstance(what, Message) else Message(what, {})
    text = N_("{name} must be {what}, not {value}", name=name, what=told, value=shown(value))
    return ValueError(text)


def not_known(name: str) -> ValueError:
    """An error that names the field of layers that nobody here can count."""
    return ValueError(
        N_("{name}: layers like these are not known here; make a model by hand", name=name)
    )


def divides(part: str, parts: int, unit: str, units: int) -> None:
    """Refuse, say, 10 query heads that are to share 4 KV heads."""
    if units % parts:
        raise ValueError(
            N_(
                "{units} {unit} cannot share {parts} {part}",
                units=units,
                unit=Message(unit, {}),
                parts=parts,
                part=Message(part, {}),
            )
        )


def lacking(config: dict[str, Any], names: tuple[str, ...]) -> ValueError:
    """An error that names the field, its other names, and a part of the file that has it."""
    field, others = names[0], ", ".join(names[1:])
    if others:
        field = N_("{name} (or {others})", name=field, others=others)
    has = (part for part, held in config.items() if isinstance(held, dict) and {*names} & {*held})
    inner = next(has, None)
    if inner is None:
        return ValueError(N_("config.json lacks {field}", field=field))
    return ValueError(
        N_(
            "config.json lacks {field}; {inner} has it: paste that part alone",
            field=field,
            inner=inner[:60],
        )
    )


def shown(value: object) -> str:
    """A value as a message can hold it, however long it is."""
    if isinstance(value, int) and value.bit_length() > 200:
        # Python refuses to print the longest ones.
        return Message(N_("a number of more than 60 digits"), {})
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def added(terms: Sequence[str]) -> str:
    """A sum."""
    return _between(" + ", terms)


def times(*factors: str) -> str:
    """A product."""
    return _between(" × ", factors)


def in_both(total: int) -> str:
    """Bytes, and the same in larger units."""
    return N_("{bytes:,} bytes = {size}", bytes=total, size=both(total))


def _between(sign: str, terms: Sequence[str]) -> str:
    slots: dict[str, object] = {f"term{place}": term for place, term in enumerate(terms)}
    return Message(sign.join(f"{{{name}}}" for name in slots), slots)


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
        return N_("{count} byte", count=count) if count == 1 else N_("{count} bytes", count=count)
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
