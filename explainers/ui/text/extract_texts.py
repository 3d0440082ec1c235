"""Where Babel finds the app's texts: in Python, in JavaScript, in the pages' Markdown, in data."""

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from explainers.ui.text.sections import read_sections
from explainers.ui.untrusted_text import titled

Found = tuple[int, str, str | tuple[str, str], list[str]]
"""Line, function that would have been called, its arguments, and comments: Babel's own form."""
COUNTED = "n_params_exact: "
"""So begins what the app says of the source of a number; all other sources are quoted."""


def markdown_sections(
    file: BinaryIO, _keywords: Any, _comments: Collection[str], options: Any
) -> Iterator[Found]:
    """Every section of a page's text; its context is `<page>/<section>`."""
    page = Path(file.name).stem
    for line, (name, text) in enumerate(read_sections(file.read().decode()).items(), start=1):
        yield line, "pgettext", (f"{page}/{name}", text), []


def words_of_data(
    file: BinaryIO, _keywords: Any, _comments: Collection[str], options: Any
) -> Iterator[Found]:
    """Titles of claims and exercises, the sizes of claims, and notes on published models."""
    rows = json.load(file)
    for line, row in enumerate(rows if isinstance(rows, list) else [], start=1):
        for text in _words_of_row(row):
            yield line, "gettext", text, []


def _words_of_row(row: dict[str, Any]) -> Iterator[str]:
    part, _, called = row.get("check", row.get("make", "")).partition(".")
    if called and part != "write":  # functions are called by their names in every language
        yield titled(called)
    if "check" in row:
        yield part
    for size in row.get("parameters", ()) if "check" in row else ():
        yield size["label"]
        yield from (value for value in size["values"] if _is_word(value))
    if "sources" in row and "family" in row:  # a published model
        yield from [row["notes"]] if "notes" in row else []
        yield from (source for source in row["sources"] if source.startswith(COUNTED))


def _is_word(value: object) -> bool:
    """Numbers and names of models are the same in every language."""
    return isinstance(value, str) and value.replace(" ", "").isalpha()
