"""Lecture mode: in front of a class, one idea per screen, large, and nothing else.

The server draws a page as ever, with everything open; `browser/lecture` shows one part of it after
the other, so that no step waits for it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import streamlit as st

from explainers.translations import _
from explainers.ui import browser_files
from explainers.ui.controls.controls import lecture_mode
from explainers.ui.lecture.share_link import share_address
from explainers.ui.session import LECTURE, LECTURE_LINK
from explainers.ui.text.language import fragment

_start_key = browser_files.make_component("lecture/start_key.js", isolate_styles=False)
PICTURE_SCRIPTS = ("picture/picture.js",)
_lecture = browser_files.make_component("lecture/lecture.js", isolate_styles=False)
HIDDEN_PAGE = """<style>
html:not([data-lecturing]) [data-testid=stAppViewContainer] { animation: 8s step-end lecture; }
@keyframes lecture { from { visibility: hidden; } to { visibility: visible; } }
</style>"""
"""A class sees no page before its first screen; but where no script runs, it comes after all."""


def is_lecture() -> bool:
    """Is this in front of a class?"""
    return bool(st.session_state.get(lecture_mode.key))


@contextmanager
def screen(kind: str, name: str) -> Iterator[None]:
    """What is drawn inside is a screen of that kind, or part of one; outside a lecture, nothing.

    The kinds are those of `browser/lecture/screens.js`: ask, reveal, code, box, end, choose,
    controls, page, nothing.
    """
    if not is_lecture():
        yield
        return
    with st.container(key=f"lecture {kind} {name}"):
        yield


def fold_box(label: str, icon: str, key: str, **more: Any) -> Any:
    """A box to open; in a lecture a screen of its own. `is_open` tells whether it will be seen."""
    if not is_lecture():
        return st.expander(label, icon=icon, key=key, **more)
    box = st.container(key=f"lecture box {key}")
    box.markdown(f"{icon} **{label}**")
    return box


def is_open(box: Any) -> bool:
    """Is what is drawn into a `folded` box that can be asked (`on_change`) seen at all?"""
    return is_lecture() or bool(box.open)


def stand_by(title: str, place: str) -> None:
    """Listen for the key that begins a lecture, or hold one; `place` is the page in the address.

    While a server's first page waits for torch, the browser fetches what draws the pictures.
    """
    if is_lecture():
        st.html(HIDDEN_PAGE)
        _draw_lecture(title, place)
    else:
        ahead = [browser_files.offer_ahead(script) for script in PICTURE_SCRIPTS]
        _start_key(key="lecture key", data=[place, *ahead])


@fragment
def _draw_lecture(title: str, place: str) -> None:
    """In a fragment of its own: a link that is wanted costs no run of the page."""

    def ask() -> None:
        st.session_state[LECTURE_LINK] = share_address(str(st.session_state[LECTURE].share), place)

    # In a list: Streamlit imports pandas to see whether a value of a dict is a table.
    data = [{"page": title, "words": _list_words(), "shared": st.session_state.get(LECTURE_LINK)}]
    _lecture(key=LECTURE, data=data, on_share_change=ask)


def _list_words() -> dict[str, str]:
    return {
        "bar": _("Lecture"),
        "back": _("Back (← or PageUp)"),
        "on": _("Next (→, space or PageDown)"),
        "controls": _("Controls (C)"),
        "share": _("Link to this screen (Q)"),
        "leave": _("Leave lecture mode (Esc)"),
        "code": _("A code to scan: the link to this screen"),
        "place": _("Screen {at} of {all}: {title}"),
        "absurd": _("The link asks for screen = {asked}. Screens count from 1; this is 1."),
        "beyond": _("The link asks for screen {asked}. This is {last}, the last of the page."),
        "first": _("This is the first page."),
        "last": _("This is the last page."),
    }
