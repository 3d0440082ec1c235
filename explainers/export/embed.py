"""The first picture of a page as one file, with all that fits into it."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode

from explainers.export.answers import describe_picture
from explainers.export.one_file import MOST, pack, write_file
from explainers.export.visit import START


class ChoiceError(ValueError):
    """A choice that the picture has not."""


def write_embed(page: str, languages: Sequence[str], live: str, choices: str = "") -> str:
    """The file, in the first of the languages where nothing else is asked for.

    `choices` are those of a link, `rule=window&word=3`, or by their labels, `mask=window`.
    """
    described = {one: describe_picture(page, one) for one in languages}
    return write_described(page, described, live, choices)


def write_described(
    page: str, described: Mapping[str, Mapping[str, Any]], live: str, choices: str = ""
) -> str:
    """The same, from what `describe_picture` tells in each language."""
    language, first = next(iter(described.items()))
    opening = read_choices(first, choices)
    kind, address = first["data"]["kind"], live if page == START else f"{live}/{page}"
    kept = max(len(told["far"]) for told in described.values())
    while True:
        # What buttons choose comes first, and is left out last.
        fitting = {
            one: {**told, "far": dict([*told["far"].items()][:kept])}
            for one, told in described.items()
        }
        file = write_file(kind, first["title"], language, address, opening, pack(fitting))
        if len(file.encode()) <= MOST or not kept:
            return file
        kept //= 2


def read_choices(told: Mapping[str, Any], choices: str) -> str:
    """Choices as a link has them; raise ChoiceError for what cannot be chosen."""
    names = {label.lower(): name for name, label in told["labels"].items()}
    asked = [(names.get(n.lower(), n), v) for n, v in parse_qsl(choices, keep_blank_values=True)]
    for name, value in asked:
        if name not in told["data"]["choices"]:
            offered = ", ".join(told["data"]["choices"])
            raise ChoiceError(f"The picture has no choice {name!r}. Use {offered}.")
        values = told["values"].get(name)
        if values is None or name in told["lists"]:
            continue
        if isinstance(values, dict):
            values = range(values["from"], values["to"] + 1)
        if value not in [str(one) for one in values]:
            raise ChoiceError(f"{name} cannot be {value!r}. Use {told['allowed'][name]}.")
    return urlencode(asked)
