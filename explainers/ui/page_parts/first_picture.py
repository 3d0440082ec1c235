"""What a new server shows at once: the start page's picture, as it was computed beforehand.

PyTorch takes longer to import than the rest of a page takes to be drawn, and the first visitor of a
new or a sleeping server would look at a title meanwhile. `python -m explainers.chapters.start`
computes the numbers again and writes the file.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import streamlit as st

from explainers import kept
from explainers.folders import ASSETS
from explainers.translations import _, get_language
from explainers.ui.browser_files import await_fetch
from explainers.ui.controls.controls import CONTROLS_BY_KEY, is_tour
from explainers.ui.figure.hero import Hero, HeroChoice, show_hero
from explainers.ui.lecture.screens import is_lecture
from explainers.ui.page import Prose

LONGEST_WAIT = 1.2
"""Seconds. While PyTorch is imported, a server hands out a file in half a second, not in some
milliseconds; so the import waits until the browser has the scripts that draw the picture. One that
kept them from another visit asks for none."""
START, FILE = "pages/01_start.py", ASSETS / "first_picture.json"
SENTENCE = "text"


@contextmanager
def hold_first_picture(page: str) -> Iterator[None]:
    """Show the picture for as long as the start page, and PyTorch with it, is being loaded.

    Where PyTorch is there, or somebody asks for another picture, nothing is shown.
    """
    if page != START:
        yield
        return
    place = st.empty()
    hero = None if "torch" in sys.modules else read_first_hero(get_language())
    if hero is None or is_changed(hero) or is_lecture() or is_tour():
        yield
        return
    text = Prose(START)
    # While it stands, the page is laid out below and not seen: `page_style.css`.
    with place.container(key="first picture"):
        text("question")
        show_where(text, "where")
        sentence = CONTROLS_BY_KEY[SENTENCE].unchosen
        st.text_input(SENTENCE, sentence, disabled=True, label_visibility="collapsed")
        show_hero(text, hero, "first journey", "first hero")
        st.caption(
            _(
                "PyTorch is being loaded. Until then, these numbers are the ones computed when the "
                "app was made."
            )
        )
    await_fetch(f"picture/heroes/{hero.kind}.js", LONGEST_WAIT)
    try:
        yield
    finally:  # also where the page stops, or fails
        place.empty()


def is_changed(hero: Hero) -> bool:
    """Does the link or the visitor choose something else for the picture?"""
    return any(one.control.key in {*st.query_params, *st.session_state} for one in hero.choices)


def read_first_hero(language: str) -> Hero | None:
    """The kept picture of a language's running sentence, with everything chosen as at first."""
    kept = json.loads(FILE.read_text(encoding="utf-8")).get(language)
    if kept is None:
        return None
    choices = []
    for key, values in kept["choices"].items():
        control = CONTROLS_BY_KEY[key]
        choices.append(HeroChoice(control, values, control.unchosen, is_elsewhere=not values))
    alt = kept["alt"]  # inside the call, "alt" would be taken for a text
    return Hero(kept["kind"], _(alt), kept["numbers"], choices, kept["sentences"])


def keep_hero(hero: Hero) -> dict[str, Any]:
    """What the file holds of a picture; nothing in it is in a language but its name."""
    return {
        "kind": hero.kind,
        "alt": hero.alt,
        "numbers": hero.numbers,
        "choices": {one.control.key: list(one.values) for one in hero.choices},
        "sentences": list(hero.sentences),
    }


MEASURED = "scores/what_for"
"""By `workshop.what_for`."""
SAID = 2
"""Words of the text before, of which the sentence below has the others."""


def show_where(text: Prose, name: str) -> None:
    """A model in one line, and the next word that it expects, with attention and without."""
    if is_lecture() or is_tour():
        return
    measured = kept.read(MEASURED)
    next_tokens = measured.numbers["next_tokens"]
    line = text.fill(
        name,
        model=measured.origin.split("/")[-1],
        written=" ".join(["…", *measured.numbers["text"].split()[-SAID:]]),
        expected=_name_likeliest(next_tokens, 1),
        instead=_name_likeliest(next_tokens, 2),
    )
    st.caption(line)


def _name_likeliest(next_tokens: list[tuple[str, float, float]], column: int) -> str:
    return f"“{max(next_tokens, key=lambda one: float(one[column]))[0].strip()}”"
