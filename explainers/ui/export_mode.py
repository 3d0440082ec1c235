"""A page that is written as a file: where a server would answer, the file has the answers in it.

What pages draw for a visitor they draw for a file as well; besides they note here what the file
needs to answer by itself. One page is written at a time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_notes: list[tuple[str, str, Any]] | None = None


def is_export() -> bool:
    """Is the page being written as a file?"""
    return _notes is not None


def note(kind: str, name: str, what: Any) -> None:
    """Keep something for the file, if one is written."""
    if _notes is not None:
        _notes.append((kind, name, what))


@contextmanager
def exporting() -> Iterator[list[tuple[str, str, Any]]]:
    """Pages that are drawn inside are written as files; their notes: kind, name, and what."""
    global _notes
    before, _notes = _notes, []
    try:
        yield _notes
    finally:
        _notes = before
