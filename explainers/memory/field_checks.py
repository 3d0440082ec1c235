"""Checks of what readers and files give: a refusal names the field and what it must be."""

from typing import Any

from explainers.messages import N_, Message


def check_whole(name: str, value: object, minimum: int = 1) -> int:
    """The value, if it is a whole number of at least `minimum`; raises ValueError for any other."""
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise wrong_value_error(N_("a whole number from {least} on", least=minimum), name, value)
    return value


def wrong_value_error(requirement: str, name: str, value: object) -> ValueError:
    """An error that says what a field must be, and what it is."""
    requirement_text = requirement if isinstance(requirement, Message) else Message(requirement, {})
    text = N_(
        "{name} must be {what}, not {value}",
        name=name,
        what=requirement_text,
        value=shorten_value(value),
    )
    return ValueError(text)


def unknown_layers_error(name: str) -> ValueError:
    """An error that names a field of layers whose cache cannot be counted here."""
    return ValueError(
        N_("{name}: layers like these are not known here; make a model by hand", name=name)
    )


def check_divides(divisor_name: str, divisor: int, number_name: str, number: int) -> None:
    """Raise ValueError if, say, 10 query heads are to share 4 KV heads."""
    if number % divisor:
        raise ValueError(
            N_(
                "{units} {unit} cannot share {parts} {part}",
                units=number,
                unit=Message(number_name, {}),
                parts=divisor,
                part=Message(divisor_name, {}),
            )
        )


def missing_field_error(config: dict[str, Any], names: tuple[str, ...]) -> ValueError:
    """An error that names a missing field, its other names, and a part of the file that has it."""
    field, other_names = names[0], ", ".join(names[1:])
    if other_names:
        field = N_("{name} (or {others})", name=field, others=other_names)
    parts_with_field = (
        name for name, value in config.items() if isinstance(value, dict) and {*names} & {*value}
    )
    part_with_field = next(parts_with_field, None)
    if part_with_field is None:
        return ValueError(N_("config.json lacks {field}", field=field))
    return ValueError(
        N_(
            "config.json lacks {field}; {inner} has it: paste that part alone",
            field=field,
            inner=part_with_field[:60],
        )
    )


def shorten_value(value: object) -> str:
    """A value as text of at most 60 characters, for a message."""
    if isinstance(value, int) and value.bit_length() > 200:
        # Python refuses to print the longest ones.
        return Message(N_("a number of more than 60 digits"), {})
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
