"""The sizes that one claim or one exercise speaks of, kept in the link."""

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explainers.memory.model_shapes import read_shapes
from explainers.memory.serving import read_gpus
from explainers.takeaway.modules import Given
from explainers.translations import _
from explainers.ui.controls.name_controls import Choice
from explainers.ui.controls.number_controls import StepSlider
from explainers.ui.session import SIZE

MOST_BUTTONS = 8


@dataclass(frozen=True)
class Setting:
    """What a reader may change about a claim or an exercise, and where it stands at first."""

    name: str
    label: str
    values: tuple[Any, ...]
    default: Any

    def __post_init__(self) -> None:
        if self.default not in self.values:
            raise ValueError(f"{self.name}: {self.default} is none of {self.values}")


def choose_sizes(owner: str, sizes: Sequence[Setting]) -> dict[str, Any]:
    """The reader's values, in a row; in the link they are named by the owner's name and theirs."""
    with st.container(horizontal=True):
        return {size.name: _choose_size(f"{SIZE}{owner}_{size.name}", size) for size in sizes}


def _choose_size(key: str, size: Setting) -> Any:
    if len(size.values) > MOST_BUTTONS and isinstance(size.default, int | float):
        return StepSlider(key, size.label, size.default, size.values)()
    options = {format_value(value): value for value in size.values}
    return options[Choice(key, size.label, format_value(size.default), tuple(options))()]


def format_value(value: object) -> str:
    """131072 as 131,072."""
    return f"{value:,}" if isinstance(value, int) else str(value)


def describe_sizes(sizes: Sequence[Setting], values: Mapping[str, Any], mark: str = "") -> str:
    """Each with its value, in the visitor's language; a `mark` makes the values bold."""

    def write(value: object) -> str:
        written = _(format_value(value))
        return written.replace("-", "−") if isinstance(value, int | float) else written

    return ", ".join(f"{_(one.label)} {mark}{write(values[one.name])}{mark}" for one in sizes)


def capitalise(words: str) -> str:
    """The visitor's words, beginning with a capital, unless it is d_k that they begin with."""
    labelled = _(words)
    return labelled if labelled.startswith("d_k") else labelled[:1].upper() + labelled[1:]


def find_published_entries(function: Callable[..., Any], chosen: Iterable[object]) -> Given:
    """The entries whose ids stand in the text of the function's module, or were chosen."""
    text, others = inspect.getsource(sys.modules[function.__module__]), set(map(str, chosen))
    return {
        read: {id: one for id, one in read().items() if f'"{id}"' in text or id in others}
        for read in (read_shapes, read_gpus)
    }
