"""Numbers that come from readers, accepted or refused by name before anything is counted."""

from typing import Any

from explainers.phrase import Phrase, phrase


def whole(name: str, value: object, least: int = 1) -> int:
    """The value if it is a whole number of at least `least`; floats are refused, not rounded."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise must_be(phrase("a whole number from {least} on", least=least), name, value)
    return value


def must_be(what: str, name: str, value: object) -> ValueError:
    """An error that says what a field must be, and what it is."""
    told = what if isinstance(what, Phrase) else Phrase(what, {})
    text = phrase("{name} must be {what}, not {value}", name=name, what=told, value=shown(value))
    return ValueError(text)


def not_known(name: str) -> ValueError:
    """An error that names the field of layers that nobody here can count."""
    return ValueError(
        phrase("{name}: layers like these are not known here; make a model by hand", name=name)
    )


def divides(part: str, parts: int, unit: str, units: int) -> None:
    """Refuse, say, 10 query heads that are to share 4 KV heads."""
    if units % parts:
        raise ValueError(
            phrase(
                "{units} {unit} cannot share {parts} {part}",
                units=units,
                unit=Phrase(unit, {}),
                parts=parts,
                part=Phrase(part, {}),
            )
        )


def lacking(config: dict[str, Any], names: tuple[str, ...]) -> ValueError:
    """An error that names the field, its other names, and a part of the file that has it."""
    field, others = names[0], ", ".join(names[1:])
    if others:
        field = phrase("{name} (or {others})", name=field, others=others)
    has = (part for part, held in config.items() if isinstance(held, dict) and {*names} & {*held})
    inner = next(has, None)
    if inner is None:
        return ValueError(phrase("config.json lacks {field}", field=field))
    return ValueError(
        phrase(
            "config.json lacks {field}; {inner} has it: paste that part alone",
            field=field,
            inner=inner[:60],
        )
    )


def shown(value: object) -> str:
    """A value as a message can hold it, however long it is."""
    if isinstance(value, int) and value.bit_length() > 200:
        # Python refuses to print the longest ones.
        return Phrase(phrase("a number of more than 60 digits"), {})
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
