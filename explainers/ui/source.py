"""Run a function and show the very text that ran."""

import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from explainers.phrase import phrase
from explainers.ui.language import said, translated

P = ParamSpec("P")
R = TypeVar("R")


def run_and_show(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """One object is both printed and called, so the page cannot show other code than it ran."""
    show_source(function)
    return function(*args, **kwargs)


def show_source(*functions: Callable[..., Any], that: str = phrase("just ran")) -> None:
    """The text of functions that this page has run, or `that` did something else before."""
    names = ", ".join(f"`{function.__name__}`" for function in functions)
    label = said("The code that {that}: {names}", that=translated(that), names=names)
    box = st.expander(label, icon=":material/code:", key=f"code {names}", on_change="rerun")
    if not box.open:  # 1.5 MB of highlighter, and milliseconds of every rerun, for what few open
        return
    with box:
        st.code("\n\n".join(inspect.getsource(function).strip() for function in functions))
