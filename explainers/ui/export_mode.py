"""A page that is written as a file: where a server would answer, the file has the answers in it.

What pages draw for a visitor they draw for a file as well; besides they note here what the file
needs to answer by itself. One page is written at a time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from explainers.translations import _

PLACE = "file: {} {}"
"""The key of an empty container where a file has something of its own, by kind and name."""


@dataclass
class Export:
    """What is written: in which theme, with all cards or the picture alone, and what was noted."""

    theme: str = "light"
    is_whole: bool = False
    date: str = field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%d}")
    notes: dict[tuple[str, str], Any] = field(default_factory=dict)
    """By kind and name."""


_written: list[Export] = []


def get_export() -> Export | None:
    """What is being written, if a page is drawn for a file."""
    return _written[-1] if _written else None


def is_whole_export() -> bool:
    """Is all of the page written, with what its reader would open?"""
    return bool(_written) and _written[-1].is_whole


def note(kind: str, name: str, what: Any) -> None:
    """Keep something for the file, if one is written."""
    if _written:
        _written[-1].notes[kind, name] = what


def stand_in(kind: str, name: str, what: Any) -> None:
    """Have something stand here in the file; of one name once on a page."""
    note(kind, name, what)
    st.container(key=PLACE.format(kind, name)).markdown("")


def say_when(origin: str) -> str:
    """The badge of a file says when its numbers were made; in the app they are made now."""
    export = get_export()
    if export is None:
        return origin
    for live, dated in (
        (_("computed live"), _("computed {date}", date=export.date)),
        (_("learned live"), _("learned {date}", date=export.date)),
    ):
        origin = origin.replace(live, dated)
    return origin


@contextmanager
def exporting(theme: str = "light", is_whole: bool = False) -> Iterator[Export]:
    """Pages that are drawn inside are written as files."""
    _written.append(Export(theme, is_whole))
    try:
        yield _written[-1]
    finally:
        _written.pop()
