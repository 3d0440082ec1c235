"""Run a function and show the very text that ran."""

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from explainers.messages import N_
from explainers.translations import _
from explainers.ui.lecture.screens import is_lecture, screen

P = ParamSpec("P")
R = TypeVar("R")
LINES_PER_SCREEN = 24
"""Of code, as many as a class reads at once; a longer function stands alone."""


def run_and_show(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """One object is both printed and called, so the page cannot show other code than it ran."""
    show_source(function)
    return function(*args, **kwargs)


def show_source(*functions: Callable[..., Any], that: str = N_("just ran")) -> None:
    """The text of functions that this page has run, or `that` did something else before."""
    read = {function.__name__: partial(_read, function) for function in functions}
    _show_texts(read, that)


@lru_cache(maxsize=1000)
def _read(function: Callable[..., Any]) -> str:
    """Python looks for it in its file line by line, each time."""
    return inspect.getsource(function)


def show_functions_of(path: Path, *names: str, that: str) -> None:
    """The same of a file whose module is not imported: it may need what is not there."""
    source = path.read_text(encoding="utf-8")
    found = {
        node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)
    }
    lines = source.splitlines()
    _show_texts({name: partial(_cut, lines, found[name]) for name in names}, that)


def _cut(lines: Sequence[str], node: ast.FunctionDef) -> str:
    """A function with its decorators."""
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    return "\n".join(lines[first - 1 : node.end_lineno])


def _show_texts(read: Mapping[str, Callable[[], str]], that: str) -> None:
    if is_lecture():
        _show_on_screens(read)
        return
    names = ", ".join(f"`{name}`" for name in read)
    label = _("The code that {that}: {names}", that=_(that), names=names)
    box = st.expander(label, icon=":material/code:", key=f"code {names}", on_change="rerun")
    if not box.open:  # 1.5 MB of highlighter, and milliseconds of every rerun, for what few open
        return
    with box:
        st.code("\n\n".join(text().strip() for text in read.values()))


def _show_on_screens(read: Mapping[str, Callable[[], str]]) -> None:
    """Open, and as many at once as can be read from the last row."""
    names = " ".join(read)
    for number, some in enumerate(_split_into_screens([text().strip() for text in read.values()])):
        with screen("code", f"{number} {names}"):
            st.code("\n\n".join(some), wrap_lines=True)


def _split_into_screens(sources: Sequence[str]) -> Iterator[list[str]]:
    some: list[str] = []
    for source in sources:
        if some and sum(map(_count_lines, some)) + _count_lines(source) > LINES_PER_SCREEN:
            yield some
            some = []
        some.append(source)
    yield some


def _count_lines(source: str) -> int:
    return source.count("\n") + 2
