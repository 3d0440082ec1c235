"""Where in a model a page is, and what attention changed there: above the start page's picture."""

import json
from functools import cache
from typing import Any

import streamlit as st

from explainers.folders import ASSETS
from explainers.ui.lecture.screens import is_lecture
from explainers.ui.page import Prose
from explainers.ui.tour_mode import is_tour

FILE = ASSETS / "scores" / "what_for.json"
"""What `workshop.what_for` measured."""
SAID = 2
"""Words of the text before, of which the sentence below has the others."""


def show_where(text: Prose, name: str) -> None:
    """A model in one line, and the next word that it expects, with attention and without."""
    if is_lecture() or is_tour():
        return
    kept = _read_measured()
    line = text.fill(
        name,
        model=kept["model"],
        written=" ".join(["…", *kept["text"].split()[-SAID:]]),
        expected=_name_likeliest(kept["next_tokens"], 1),
        instead=_name_likeliest(kept["next_tokens"], 2),
    )
    st.caption(line)


@cache
def _read_measured() -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return kept


def _name_likeliest(next_tokens: list[tuple[str, float, float]], column: int) -> str:
    return f"“{max(next_tokens, key=lambda one: float(one[column]))[0].strip()}”"
