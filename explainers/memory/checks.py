"""Numbers that come from readers, accepted or refused by name before anything is counted."""

from explainers.phrase import Phrase, phrase


def whole(name: str, value: object, least: int = 1) -> int:
    """The value if it is a whole number of at least `least`; floats are refused, not rounded."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{name} must be a whole number from {least} on, not {shown(value)}")
    return value


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


def shown(value: object) -> str:
    """A value as a message can hold it, however long it is."""
    if isinstance(value, int) and value.bit_length() > 200:
        return "a number of more than 60 digits"  # Python refuses to print the longest ones
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
