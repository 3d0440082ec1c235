"""Values as Python text that cannot be anything but these values, whatever a reader typed."""

import sys
import textwrap
from array import array
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import Field, fields, is_dataclass
from inspect import isfunction
from typing import Any

WIDTH = 92
READABLE = 600
"""More numbers than this are packed: nobody reads them."""
MOST = 40_000
"""Of what a page shows, no more numbers than this are written into its file."""


def is_numbers(value: Any) -> bool:
    """Is it a tensor, or something else with a shape?"""
    return hasattr(value, "shape") and hasattr(value, "tolist")


def literal(value: Any) -> str:
    """Python text of a value; `repr` escapes quotes, line breaks and signs that are not drawn."""
    if is_numbers(value):
        return _tensor(value)
    return _nested(value)


def _tensor(value: Any) -> str:
    if value.numel() > READABLE and value.is_floating_point():
        shape = ", ".join(map(str, value.shape))
        return f'floats(\n    """\n{_packed(value)}\n""",\n    {shape},\n)'
    if value.dim() == 2 and str(value.dtype) == "torch.bool":
        rows = ["".join("01"[allowed] for allowed in row) for row in value.tolist()]
        return 'truths(\n    """\n' + "\n".join(f"    {row}" for row in rows) + '\n    """\n)'
    kind = "" if value.is_floating_point() else f", dtype={value.dtype}"
    return f"torch.tensor({_nested(value.tolist())}{kind})"


def _packed(value: Any) -> str:
    numbers = array("f", value.flatten().tolist())
    if sys.byteorder == "big":
        numbers.byteswap()
    return textwrap.fill(b64encode(numbers.tobytes()).decode(), WIDTH)


def _nested(value: Any) -> str:
    """One line where it fits, else a line for each entry."""
    if isfunction(value):
        return value.__name__
    if is_record(value):
        told = [f"{one.name}={_nested(getattr(value, one.name))}" for one in _chosen(value)]
        return _listed(f"{type(value).__name__}(", told, ")")
    if isinstance(value, Mapping):
        return _listed("{", [f"{_nested(k)}: {_nested(v)}" for k, v in value.items()], "}")
    if isinstance(value, frozenset):
        return f"frozenset({_nested(sorted(value))})"
    if isinstance(value, tuple):
        return _listed("(", [_nested(one) for one in value], ",)" if len(value) == 1 else ")")
    if isinstance(value, Sequence) and not isinstance(value, str):
        return _listed("[", [_nested(one) for one in value], "]")
    return _plain(value)


def _listed(begin: str, entries: Sequence[str], end: str) -> str:
    line = begin + ", ".join(entries) + end
    if len(line) <= WIDTH and "\n" not in line:
        return line
    return begin + "\n" + "".join(f"{_indented(one)},\n" for one in entries) + end[-1]


def is_record(value: Any) -> bool:
    """Is it an instance of a dataclass, which can be written as a call?"""
    return is_dataclass(value) and not isinstance(value, type)


def _chosen(value: Any) -> list[Field[Any]]:
    """The fields that are not what they are without being said."""
    return [one for one in fields(value) if getattr(value, one.name) != one.default]


def records(value: Any) -> Iterator[Callable[..., Any]]:
    """The classes and functions that a value names when it is written out."""
    if isfunction(value):
        yield value
    elif is_record(value):
        yield type(value)
        for one in _chosen(value):
            yield from records(getattr(value, one.name))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from records(one)


def _plain(value: Any) -> str:
    if isinstance(value, bool | int | str | None):
        return repr(value)
    if isinstance(value, float):
        short = f"{value:.9g}"  # nine digits tell every float32 from its neighbours
        return f"float({short!r})" if short.strip("-") in ("inf", "nan") else repr(float(short))
    raise TypeError(f"{type(value).__name__} is not a plain value")


def _indented(text: str) -> str:
    return textwrap.indent(text, "    ")


def bounded(value: Any) -> Any:
    """The numbers as far as a file holds them: the first rows of what is very large."""
    if not is_numbers(value) or value.numel() <= MOST:
        return value
    return value[: max(1, MOST * len(value) // value.numel())]


def entries(values: Mapping[str, Any]) -> str:
    """A dict with a line, or some, for each of its entries."""
    return (
        "{\n" + "".join(f"{_indented(f'{k!r}: {literal(v)}')},\n" for k, v in values.items()) + "}"
    )
