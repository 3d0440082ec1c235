"""Readers' text in front of readers: printed, never interpreted."""

import re

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def escaped(text: str) -> str:
    """The text as Markdown that shows exactly these characters (CommonMark 0.31, section 2.4)."""
    return _PUNCTUATION.sub(r"\\\1", text)


def shortened(text: str, length: int = 40) -> str:
    """The beginning of a text that may be very long."""
    return text if len(text) <= length else text[: length - 1] + "…"
