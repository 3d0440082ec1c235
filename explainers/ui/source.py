"""Run a function and show the very text that ran."""

import ast
import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from explainers.messages import N_
from explainers.translations import _
from explainers.ui.export_mode import is_whole_export
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
    names = [function.__name__ for function in functions]
    _show_texts(names, lambda: [_read(function) for function in functions], that)


@lru_cache(maxsize=1000)
def _read(function: Callable[..., Any]) -> str:
    """Python looks for it in its file line by line, each time."""
    return inspect.getsource(function)


def show_functions_of(path: Path, *names: str, that: str) -> None:
    """The same of a file whose module is not imported: it may need what is not there."""

    def read() -> list[str]:
        source = path.read_text(encoding="utf-8")
        lines, found = source.splitlines(), {}
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef):
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                found[node.name] = "\n".join(lines[first - 1 : node.end_lineno])
        return [found[name] for name in names]

    _show_texts(names, read, that)


def _show_texts(names: Sequence[str], read: Callable[[], list[str]], that: str) -> None:
    if is_lecture():  # open, and as many at once as can be read from the last row
        for number, some in enumerate(_split_into_screens([text.strip() for text in read()])):
            with screen("code", f"{number} {' '.join(names)}"):
                st.code("\n\n".join(some), wrap_lines=True)
        return
    listed = ", ".join(f"`{name}`" for name in names)
    label = _("The code that {that}: {names}", that=_(that), names=listed)
    box = st.expander(label, icon=":material/code:", key=f"code {listed}", on_change="rerun")
    # 1.5 MB of highlighter, and milliseconds of every rerun, for what few open.
    if not box.open and not is_whole_export():
        return
    with box:
        st.code("\n\n".join(text.strip() for text in read()))


def _split_into_screens(sources: Sequence[str]) -> Iterator[list[str]]:
    some: list[str] = []
    for source in sources:
        lines = sum(one.count("\n") + 2 for one in [*some, source])
        if some and lines > LINES_PER_SCREEN:
            yield some
            some = []
        some.append(source)
    yield some
