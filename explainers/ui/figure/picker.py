"""A list of many names that can be searched, drawn by the browser alone.

Streamlit builds its own list of seventy names anew whenever one is chosen, before it says so.
"""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from explainers.translations import _
from explainers.ui import browser_files
from explainers.ui.controls.control import Control
from explainers.ui.controls.name_controls import MultiChoice, NameList
from explainers.ui.figure.hero import read_choice
from explainers.ui.figure.panels import translate_scripts

_SCRIPTS = browser_files.list_scripts("picker", "common")
_component = browser_files.make_component("picker/picker.js", "picker")


def pick_name(control: NameList, names: Sequence[str]) -> str:
    """One of the names."""
    name: str = read_choice(control, names)
    _draw(control, names, [name], 1, control.width)
    return name


def pick_names(control: MultiChoice, names: Sequence[str]) -> list[str]:
    """As many of the names as the control allows."""
    chosen = control(names, is_drawn=False)
    _draw(control, names, chosen, control.most or len(names), "stretch")
    return chosen


def _draw(
    control: Control, names: Sequence[str], chosen: Sequence[str], most: int, width: int | str
) -> None:
    key, words = f"pick {control.key}", control.label_and_help

    def take() -> None:
        told = st.session_state[key].names
        if accepts(told, names, most):
            control.put(told[0] if most == 1 else told)

    _component(
        key=key,
        data={
            "key": control.key,
            "label": words["label"],
            "help": words["help"] or "",
            "choices": list(names),
            "others": {name: _(name) for name in names if _(name) != name},
            "chosen": list(chosen),
            "most": most,
            "words": translate_scripts(_SCRIPTS),
        },
        width=width,
        on_names_change=take,
    )


def accepts(told: Any, names: Sequence[str], most: int) -> bool:
    """May a browser ask for this? For some of the names, each once; of a single one, for one."""
    if not isinstance(told, list) or not all(isinstance(one, str) for one in told):
        return False
    is_count = len(told) == 1 if most == 1 else len(told) <= most
    return is_count and len(set(told)) == len(told) and set(told) <= set(names)
