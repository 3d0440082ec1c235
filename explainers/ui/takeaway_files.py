"""A page as a notebook and a script: what it recomputes, and the row that offers both."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import streamlit as st

from explainers.takeaway.recipe import (
    NOTEBOOK_MIME,
    SCRIPT_MIME,
    Cell,
    Made,
    Recipe,
    Words,
    cells,
    write_notebook,
    write_script,
)
from explainers.translations import _
from explainers.ui.session import TAKEAWAY

Computed = TypeVar("Computed", bound=Mapping[str, Any])


@dataclass
class PageTakeaway:
    """A page's recipes by the part that gave them, and the link to what it shows.

    A fragment runs again without the rest of its page, which keeps what it had given.
    """

    stem: str
    words: Words
    link: str = ""
    parts: dict[str, tuple[Made, ...]] = field(default_factory=dict)
    is_row_missing: bool = False

    def cells(self) -> Iterable[Cell]:
        """The file from top to bottom."""
        recipes = [recipe for part in list(self.parts.values()) for recipe in part]
        return cells(self.words, self.link, recipes)

    def write(self, write: Callable[[Iterable[Cell]], str]) -> str:
        """The file in one of its forms, as it is when it is asked for."""
        return write(self.cells())


def begin_takeaway(title: str, stem: str) -> None:
    """Start a page's takeaway: a page that is opened has offered nothing yet.

    What a file says around its code is in the language of this visit.
    """
    words = Words(
        title=title,
        made_from=_("Computes again what is on this page:"),
        needs=_(
            "It needs Python 3.11 and torch, nothing else. Change an input and run it again: the "
            "check at the end of each part shows what differs from the page."
        ),
        needs_more=_(
            "It needs Python 3.11, torch and {libraries}, and the model. Change an input and run "
            "it again: the check at the end of each part shows what differs from the page.",
            libraries="{libraries}",
        ),
        functions=_("The functions"),
        own=_("Each as it runs on the page."),
        nothing=_(
            "Nothing that the page showed can be computed in a file: answer its question, or "
            "choose something else, and take it again."
        ),
    )
    st.session_state[TAKEAWAY] = PageTakeaway(stem, words)


def take(part: str, *recipes: Made) -> None:
    """What a part of the page, a fragment or all of it, shows now and how it is recomputed."""
    takeaway: PageTakeaway = st.session_state[TAKEAWAY]
    takeaway.parts[part] = recipes
    takeaway.link = read_address()
    if takeaway.is_row_missing:
        # A fragment has something to offer, on a page that had nothing when it was drawn.
        takeaway.is_row_missing = False
        st.rerun()


def run_and_hand_over(
    part: str, title: str, function: Callable[..., Computed], /, **inputs: Any
) -> Computed:
    """Run a function for the page, whose files run it again and compare.

    Its result has a name for each thing that is shown.
    """
    shown = function(**inputs)
    take(part, Recipe(title, function, inputs, shown))
    return shown


def hand_over(
    part: str, title: str, function: Callable[..., Mapping[str, Any]], /, **inputs: Any
) -> None:
    """The same where the page draws these numbers in another form: run when a file is made."""
    take(part, lambda: Recipe(title, function, inputs, function(**inputs)))


def read_address() -> str:
    """The address of what is on screen; nothing of it is left that could end a line or a tag."""
    chosen = [(name, one) for name in st.query_params for one in st.query_params.get_all(name)]
    choices = urlencode(chosen, quote_via=quote, errors="replace")
    return f"{quote(st.context.url or '', safe=':/[]')}?{choices}".rstrip("?")


NOTE_WIDTH = 470
"""Pixels: beside the buttons on a computer, below them on a phone."""


def offer_takeaway() -> None:
    """The row at the end of a page. Files are made when asked for, outside of any script run."""
    takeaway: PageTakeaway = st.session_state[TAKEAWAY]
    takeaway.is_row_missing = not takeaway.parts
    if takeaway.is_row_missing:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="takeaway"):
        st.markdown(_("**Take this page with you**"), width="content")
        for label, ending, mime, write in (
            (_("Notebook"), "ipynb", NOTEBOOK_MIME, write_notebook),
            (_("Script"), "py", SCRIPT_MIME, write_script),
        ):
            st.download_button(
                label,
                partial(takeaway.write, write),
                f"{takeaway.stem}.{ending}",
                mime,
                key=f"take {ending}",
                on_click="ignore",
                icon=":material/download:",
            )
        note = _("Both compute this page's numbers again, from our functions, and compare.")
        st.markdown(f":small[{note}]", width=NOTE_WIDTH)
