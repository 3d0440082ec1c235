"""What is wrong with a function that a learner wrote."""

from collections.abc import Callable
from inspect import signature
from typing import Any

import torch

from explainers.chapters.exercises.write import Hole, sizes

SEEDS = range(5)
MOST_LINES = 3


def judge(hole: Hole, written: Callable[..., Any]) -> str:
    """Nothing if it gives what ours gives, on numbers of many sizes."""
    names = signature(hole.function).parameters
    for seed in SEEDS:
        arguments = hole.arguments(seed)
        given = zip(names, arguments, strict=True)
        tried = "with " + ", ".join(f"{name} {sizes(one)}" for name, one in given)
        try:
            result = written(*arguments)
        except NotImplementedError:
            return "not written yet"
        except Exception as wrong:  # whatever a learner's code raises is for the learner to read
            return f"{tried} it raises {type(wrong).__name__}: {_first_lines(wrong)}"
        if fault := _apart(result, hole.function(*arguments)):
            return f"{tried}: {fault}"
    return ""


def _apart(result: Any, right: Any) -> str:
    """Part by part, so that the first wrong one has a name."""
    if type(result) is not type(right):
        return f"it gives {_kind(result)}, not {_kind(right)}"
    if isinstance(right, tuple):
        parts = zip(right._fields, result, right, strict=True)  # type: ignore[attr-defined]
        faults = ((name, _apart(one, other)) for name, one, other in parts)
        return next((f"`{name}`: {fault}" for name, fault in faults if fault), "")
    try:
        torch.testing.assert_close(result, right, atol=1e-5, rtol=1e-4)
    except AssertionError as wrong:
        return _first_lines(wrong)
    return ""


def _kind(one: Any) -> str:
    return "nothing" if one is None else f"the type {type(one).__name__}"


def _first_lines(wrong: Exception) -> str:
    lines = [line for line in str(wrong).splitlines() if line.strip()]
    return " ".join(lines[:MOST_LINES])
