"""What a page hands over: a function, what went in, what it shows; and the files made of that."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from explainers.takeaway.modules import (
    Given,
    call,
    call_for,
    callables,
    entries,
    is_record,
    keep_first_rows,
    parts,
    paste,
)


@dataclass(frozen=True)
class Recipe:
    """One picture, or some that belong together.

    `function(**inputs)` gives a dict in which stands, under the same names, all that is `shown`.
    Inputs are plain values, records, or tensors where numbers come from weights. Nothing is
    converted before a file is asked for.
    """

    title: str
    function: Callable[..., Mapping[str, Any]]
    inputs: Mapping[str, Any]
    shown: Mapping[str, Any]
    given: Callable[[], Given] = dict
    """What functions that read our files gave."""
    remark: str = ""
    """What a reader must know to understand the numbers, as the page says it."""
    libraries: tuple[str, ...] = ()
    """What the function needs beside Python and torch."""

    @property
    def functions(self) -> list[Callable[..., Any]]:
        """What is called, in this order: what makes the inputs, then the function."""
        return [*callables(self.inputs), self.function]


Made = Recipe | Callable[[], Recipe]
"""A recipe, or what makes one that takes too long to have it ready before it is asked for."""


class Cell(NamedTuple):
    """A part of a file: Markdown, or code."""

    kind: Literal["markdown", "code"]
    text: str


class Words(NamedTuple):
    """What a file says around its code, in the reader's language."""

    title: str
    made_from: str
    needs: str
    needs_more: str
    """The same of a file that needs `libraries`, which is filled in."""
    functions: str
    own: str
    nothing: str


def cells(words: Words, link: str, made: Sequence[Made]) -> Iterator[Cell]:
    """A page's file from top to bottom: what it is, our functions, and each picture computed."""
    recipes = [one if isinstance(one, Recipe) else one() for one in made]
    if not recipes:
        yield Cell("markdown", f"# {words.title}\n\n{words.nothing}")
        return
    from explainers.takeaway.inside import (  # torch: not when the app starts
        floats,
        same_numbers,
        truths,
    )

    called = [function for recipe in recipes for function in recipe.functions]
    given = {function: result for recipe in recipes for function, result in recipe.given().items()}
    libraries = sorted({name for recipe in recipes for name in recipe.libraries})
    needs = words.needs_more.format(libraries=", ".join(libraries)) if libraries else words.needs
    wanted: list[Callable[..., Any]] = [floats, truths, same_numbers, *dict.fromkeys(called)]
    imports, modules = paste(wanted, given, libraries)
    yield Cell("markdown", f"# {words.title}\n\n{words.made_from} <{link}>\n\n{needs}")
    yield Cell("code", imports)
    yield Cell("markdown", f"## {words.functions}\n\n{words.own}")
    for part in modules:
        yield Cell("markdown", f"`{part.module.replace('.', '/')}.py`\n\n{part.remark}")
        yield Cell("code", part.text)
    names: dict[int, str] = {}
    shared = _used_twice([recipe.inputs for recipe in recipes])
    for recipe in recipes:
        shown = {name: keep_first_rows(numbers) for name, numbers in recipe.shown.items()}
        yield Cell("markdown", f"## {recipe.title}\n\n{recipe.remark}".rstrip())
        for text in _definitions("", recipe.inputs, shared, names):
            yield Cell("code", text)
        yield Cell("code", f"computed = {call(recipe.function, recipe.inputs, names)}")
        yield Cell("code", f"shown = {entries(shown)}\n\nsame_numbers(computed, shown)")


def _used_twice(value: Any, seen: Counter[int] | None = None) -> set[int]:
    """The `id` of each record that stands in more than one place."""
    seen = Counter() if seen is None else seen
    seen[id(value)] += is_record(value)
    if seen[id(value)] < 2:
        for _unused, part in parts(value):
            _used_twice(part, seen)
    return {key for key, count in seen.items() if count > 1}


def _definitions(name: str, value: Any, shared: set[int], names: dict[int, str]) -> Iterator[str]:
    """A line for each record that is shared and has no name yet, innermost first."""
    if id(value) in names:
        return
    for own, part in parts(value):
        yield from _definitions(own or name, part, shared, names)
    if id(value) in shared:
        alike = sum(known.split("_")[0] == name for known in names.values())
        called = f"{name}_{alike + 1}" if alike else name
        yield f"{called} = {call(*call_for(value), names)}"
        names[id(value)] = called


NOTEBOOK_MIME, SCRIPT_MIME = "application/x-ipynb+json", "text/x-python"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def write_notebook(cells: Iterable[Cell]) -> str:
    """A Jupyter notebook (nbformat 4.5), the same bytes for the same page."""
    written = []
    for place, (kind, text) in enumerate(cells):
        ran: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
        one = {"cell_type": kind, "id": f"cell-{place}", "metadata": {}, **ran}
        written.append(one | {"source": text.splitlines(keepends=True)})
    return json.dumps(
        {
            "cells": written,
            "metadata": {"kernelspec": KERNEL, "language_info": {"name": "python"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        },
        ensure_ascii=False,
        indent=1,
        sort_keys=True,
    )


def write_script(cells: Iterable[Cell]) -> str:
    """A plain Python file with the remarks as comments; `python file.py` runs it."""
    parts = []
    for kind, text in cells:
        # A line break of any kind would end the comment and begin code.
        remark = "\n".join(f"# {line.lstrip('# ')}".rstrip() for line in text.splitlines())
        parts.append(text if kind == "code" else remark)
    return "\n\n\n".join(parts) + "\n"
