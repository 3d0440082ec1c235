"""Values as Python text that cannot be anything but these values, whatever a reader typed."""

import sys
import textwrap
from array import array
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from inspect import isfunction
from types import MappingProxyType
from typing import Any

WIDTH = 92
READABLE = 600
"""More numbers than this are packed: nobody reads them."""
MOST = 40_000
"""Of what a page shows, no more numbers than this are written into its file."""
Names = Mapping[int, str]
"""By the `id` of a record that is written once and used more often: what it is called."""
NO_NAMES: Names = MappingProxyType({})


def is_numbers(value: Any) -> bool:
    """Is it a tensor, or something else with a shape?"""
    return hasattr(value, "shape") and hasattr(value, "tolist")


def literal(value: Any, names: Names = NO_NAMES) -> str:
    """Python text of a value; `repr` escapes quotes, line breaks and signs that are not drawn.

    A record that has a name is written as its name.
    """
    if is_numbers(value):
        return _tensor(value)
    return _nested(value, names)


def _tensor(value: Any) -> str:
    if value.numel() > READABLE and value.is_floating_point():
        shape = ", ".join(map(str, value.shape))
        return f'floats(\n    """\n{_packed(value)}\n""",\n    {shape},\n)'
    if value.dim() == 2 and str(value.dtype) == "torch.bool":
        rows = ["".join("01"[allowed] for allowed in row) for row in value.tolist()]
        return 'truths(\n    """\n' + "\n".join(f"    {row}" for row in rows) + '\n    """\n)'
    kind = "" if value.is_floating_point() else f", dtype={value.dtype}"
    return f"torch.tensor({literal(value.tolist())}{kind})"


def _packed(value: Any) -> str:
    numbers = array("f", value.flatten().tolist())
    if sys.byteorder == "big":
        numbers.byteswap()
    return textwrap.fill(b64encode(numbers.tobytes()).decode(), WIDTH)


def _nested(value: Any, names: Names) -> str:
    """One line where it fits, else a line for each entry."""

    def each(values: Iterable[Any]) -> list[str]:
        return [literal(one, names) for one in values]

    if isfunction(value):
        return value.__name__
    if is_record(value):
        return names.get(id(value)) or call(*call_for(value), names)
    if isinstance(value, Mapping):
        pairs = zip(each(value), each(value.values()), strict=True)
        return _listed("{", [f"{k}: {v}" for k, v in pairs], "}")
    if isinstance(value, frozenset):
        return f"frozenset({literal(sorted(value))})"
    if isinstance(value, tuple):
        return _listed("(", each(value), ",)" if len(value) == 1 else ")")
    if isinstance(value, Sequence) and not isinstance(value, str):
        return _listed("[", each(value), "]")
    return _plain(value)


def call(function: Callable[..., Any], given: Mapping[str, Any], names: Names = NO_NAMES) -> str:
    """A call with what is given to it."""
    told = [f"{name}={literal(value, names)}" for name, value in given.items()]
    return _listed(f"{function.__name__}(", told, ")")


def _listed(begin: str, entries: Sequence[str], end: str) -> str:
    line = begin + ", ".join(entries) + end
    if len(line) <= WIDTH and "\n" not in line:
        return line
    if begin in "[(" and not any(one.startswith(("[", "(")) or "\n" in one for one in entries):
        return begin + _filled(entries) + end
    return begin + "\n" + "".join(f"{_indented(one)},\n" for one in entries) + end[-1]


def _filled(entries: Sequence[str]) -> str:
    """As many entries on each line as there is room for."""
    lines = [""]
    for entry in entries:
        if len(lines[-1]) + len(entry) > WIDTH:
            lines.append("")
        lines[-1] += f"{entry}, "
    return "\n ".join(lines).removesuffix(", ").replace(", \n", ",\n")


def is_record(value: Any) -> bool:
    """Is it an instance of a dataclass, which can be written as a call?"""
    return is_dataclass(value) and not isinstance(value, type)


def call_for(record: Any) -> tuple[Callable[..., Any], dict[str, Any]]:
    """What makes a record again, and what that is given: its class, unless it says otherwise."""
    if hasattr(record, "as_call"):
        return record.as_call()
    chosen = [one.name for one in fields(record) if getattr(record, one.name) != one.default]
    return type(record), {name: getattr(record, name) for name in chosen}


def callables(value: Any) -> Iterator[Callable[..., Any]]:
    """The classes and functions that a value names when it is written out."""
    if isfunction(value):
        yield value
    elif is_record(value):
        yield call_for(value)[0]
    for _unused, part in parts(value):
        yield from callables(part)


def parts(value: Any) -> Iterable[tuple[str, Any]]:
    """What a value is written with, each part under its name if it has one."""
    if is_record(value):
        return call_for(value)[1].items()
    if isinstance(value, Mapping):
        return value.items()
    return [("", one) for one in value] if isinstance(value, list | tuple) else ()


def _plain(value: Any) -> str:
    if isinstance(value, bool | int | str | None):
        return repr(value)
    if isinstance(value, float):
        short = f"{value:.9g}"  # nine digits tell every float32 from its neighbours
        return f"float({short!r})" if short.strip("-") in ("inf", "nan") else repr(float(short))
    raise TypeError(f"{type(value).__name__} is not a plain value")


def _indented(text: str) -> str:
    return textwrap.indent(text, "    ")


def keep_first_rows(value: Any) -> Any:
    """The numbers as far as a file holds them: the first rows of what is very large."""
    if not is_numbers(value) or value.numel() <= MOST:
        return value
    return value[: max(1, MOST * len(value) // value.numel())]


def entries(values: Mapping[str, Any]) -> str:
    """A dict with a line, or some, for each of its entries."""
    return (
        "{\n" + "".join(f"{_indented(f'{k!r}: {literal(v)}')},\n" for k, v in values.items()) + "}"
    )
