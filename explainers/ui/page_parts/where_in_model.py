"""Where in a model a page is, and what attention changed there: below the start page's picture."""

import json
from functools import cache
from typing import Any

import streamlit as st

from explainers.folders import ASSETS
from explainers.ui.lecture.screens import is_lecture
from explainers.ui.page import Prose
from explainers.ui.text.numbers import write_percent
from explainers.ui.tour_mode import is_tour

FILE = ASSETS / "scores" / "what_for.json"
"""What `explainers.chapters.start.what_for` measured."""
MOST_LISTED = 3


def show_where(text: Prose, name: str) -> None:
    """A model in one line, and the next word that it expects, with attention and without."""
    if is_lecture() or is_tour():
        return
    kept = _read_measured()
    with st.container(key="where"):
        text(
            name,
            layers=kept["layers"],
            written=kept["text"],
            model=kept["model"],
            expected=_list(kept["next_tokens"], 1),
            instead=_list(kept["next_tokens"], 2, most=1),
        )


@cache
def _read_measured() -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return kept


def _list(next_tokens: list[tuple[str, float, float]], column: int, most: int = MOST_LISTED) -> str:
    likeliest = sorted(next_tokens, key=lambda one: -float(one[column]))[:most]
    return ", ".join(f"“{one[0].strip()}” {write_percent(float(one[column]))}" for one in likeliest)
