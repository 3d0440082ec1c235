"""Run a function and show the very text that ran."""

import inspect
from collections.abc import Callable, Iterator, Sequence
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
    if is_lecture():
        _show_on_screens(functions)
        return
    names = ", ".join(f"`{function.__name__}`" for function in functions)
    label = _("The code that {that}: {names}", that=_(that), names=names)
    box = st.expander(label, icon=":material/code:", key=f"code {names}", on_change="rerun")
    if not box.open:  # 1.5 MB of highlighter, and milliseconds of every rerun, for what few open
        return
    with box:
        st.code("\n\n".join(inspect.getsource(function).strip() for function in functions))


def _show_on_screens(functions: Sequence[Callable[..., Any]]) -> None:
    """Open, and as many at once as can be read from the last row."""
    names = " ".join(function.__name__ for function in functions)
    for number, some in enumerate(
        _split_into_screens([inspect.getsource(f).strip() for f in functions])
    ):
        with screen("code", f"{number} {names}"):
            st.code("\n\n".join(some))


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
