"""Numbers with the marks of a language: 1,024.5 is 1.024,5 in Vietnamese. The marks are Babel's.

The code writes every number as English does; it is rewritten once, where a text is put together.
"""

import functools
import re
from collections.abc import Mapping
from decimal import Decimal
from string import Formatter
from typing import Any

_NUMBER = re.compile(
    r"(?<![\w.,/=@])(?<![A-Za-z]-)"
    r"(?:[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+(?:e[-+]?\d+)?)"
    r"(?![.,]?\w|-[A-Za-z])",
    re.ASCII,
)
"""Not in names, such as Llama-3.1-8B, nor in addresses."""
_VERBATIM = re.compile(r"(`[^`]*`|\]\([^)]*\)|https?://\S+)")
"""Code and the targets of links keep their numbers."""
_UNITS = re.compile(r"\b(?:[kMGT]i?B|ms|s|nats?|e|log₂|ln|min|max|min\(|max\(|nan|d_k)\b", re.ASCII)
_VERSION = re.compile(r"[A-Z][A-Za-z]+ $")
"""What stands before the number of a version: Llama 3.1."""

_LISTED = re.compile(r"(\d,\d+), (?=[-−(]?\d)")


class Localised(str):
    """A text whose numbers have the marks of the visitor's language already."""


@functools.cache
def find_marks(language: str) -> tuple[str, str]:
    """What a language writes before decimals, and between thousands."""
    from babel import Locale, UnknownLocaleError  # English needs none of it

    try:
        symbols = Locale.parse(language).number_symbols["latn"]
    except UnknownLocaleError:  # a language that few write: numbers stay as they are
        return ".", ","
    return symbols["decimal"], symbols["group"]


def write_value(value: object, language: str, form: str = "") -> Localised:
    """A number, or a text that may hold some, as a sentence of the language has it.

    A text may have been put together of translated parts: then 1.024 in it may be a thousand
    already, so that of a text with words, only what no language but English writes is changed.
    """
    text = format(value, form)
    if language == "en" or isinstance(value, Localised) or not any(map(str.isdigit, text)):
        return Localised(text)
    is_certain = isinstance(value, int | float | Decimal) or is_numeric(text)
    return localise_numbers(text, language, is_certain)


def is_numeric(text: str) -> bool:
    """Are there numbers, signs and units, and no words?"""
    return not re.search(r"[^\W\d_]", _UNITS.sub("", re.sub(r"(?<=\d)e[-+]?\d+", "", text)))


def localise_numbers(text: str, language: str, is_certain: bool = True) -> Localised:
    """The text with each number's marks exchanged, unless it is code, a link or a name."""
    decimal, group = find_marks(language)
    marks = str.maketrans({".": decimal, ",": group})

    def exchange(found: re.Match[str]) -> str:
        number = found[0]
        whole, _dot, decimals = number.partition(".")
        is_like_thousands = "," not in number and len(decimals) == 3 and whole != "0"
        is_version = bool(_VERSION.search(found.string[: found.start()])) and len(decimals) == 1
        is_kept = is_version or (is_like_thousands and not is_certain)
        return number if is_kept else number.translate(marks)

    parts = _VERBATIM.split(text)
    parts[::2] = (_NUMBER.sub(exchange, part) for part in parts[::2])
    text = "".join(parts)
    # Between decimals that have commas themselves stands a semicolon: 0,25; 0,5.
    return Localised(_LISTED.sub(r"\1; ", text) if decimal == "," else text)


class LocalFormatter(Formatter):
    """Fills the slots of a translated text; numbers in them get the language's marks."""

    def __init__(self, language: str) -> None:
        self.language = language

    def format_field(self, value: Any, format_spec: str) -> str:
        return write_value(value, self.language, format_spec)


def fill_slots(form: str, slots: Mapping[str, object], language: str) -> Localised:
    """A translated text with its slots filled."""
    return Localised(LocalFormatter(language).vformat(form, (), slots))
