"""Texts where they are shown: translated into the language of the visitor whose run this is.

English stands in the code and in the pages' Markdown, `assets/text/en/<page>.md`, and takes no
detour; `assets/text/<language>.po` has the words of the other languages, and what a file lacks is
said in English. Numbers get the marks of the language: 1,024.5 is 1.024,5 in Vietnamese. The marks
are Babel's. The code writes every number as English does; it is rewritten once, where a text is put
together.
"""

import functools
import io
import re
from contextvars import ContextVar
from decimal import Decimal
from gettext import GNUTranslations
from pathlib import Path
from string import Formatter
from typing import Any

from explainers.folders import ASSETS
from explainers.messages import Message, get_message

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


TEXTS = ASSETS / "text"
ENGLISH = "en"
_LANGUAGE = ContextVar("language", default=ENGLISH)
"""Of the run that goes on in this thread: visitors have threads of their own."""


def _(text: str, /, **slots: object) -> str:
    """A text in the visitor's language; `text` is written out here, or was marked elsewhere."""
    language = _LANGUAGE.get()
    if language != ENGLISH:
        return translate(Message(text, slots) if slots else text, language)
    return text.format(**slots) if slots else text


def translate(text: str, language: str) -> str:
    """A text in any language, for work that goes on when the visitor's run is over."""
    if language == ENGLISH or not text:  # an empty text would be looked up as the file's header
        return text
    catalogue = _catalogue(TEXTS / f"{language}.po")
    if not isinstance(text, Message):
        said = catalogue.gettext(text)
        # A number of its own, such as an answer to choose.
        return localise_numbers(text, language) if said == text and is_numeric(text) else said
    if text.plural:
        form = catalogue.ngettext(text.template, text.plural, int(str(text.slots["count"])))
    else:
        form = catalogue.gettext(text.template)
    slots = {
        name: translate(it, language) if isinstance(it, Message) else it
        for name, it in text.slots.items()
    }
    return Localised(LocalFormatter(language).vformat(form, (), slots))


def say_value(value: object) -> str:
    """A number, a message or a text, as a sentence in the visitor's language has it."""
    language = _LANGUAGE.get()
    if language == ENGLISH:
        return str(value)
    return write_value(
        translate(value, language) if isinstance(value, Message) else value, language
    )


def say_arithmetic(line: str) -> str:
    """A line of arithmetic in the visitor's language: translated, or nothing but numbers."""
    said, language = _(line), _LANGUAGE.get()
    return said if language == ENGLISH or said != line else localise_numbers(line, language)


def translate_error(error: Exception) -> str:
    """What went wrong, in the visitor's language if it was written for readers."""
    return _(get_message(error))


def get_language() -> str:
    """The code of the language in which this visitor is spoken to."""
    return _LANGUAGE.get()


def set_language(language: str) -> None:
    """From here on, this run is in that language."""
    _LANGUAGE.set(language)


@functools.cache
def _catalogue(path: Path) -> GNUTranslations:
    from babel.messages.mofile import write_mo  # English needs no reader of catalogues
    from babel.messages.pofile import read_po

    compiled = io.BytesIO()
    with path.open("rb") as file:
        write_mo(compiled, read_po(file))
    compiled.seek(0)
    return GNUTranslations(compiled)


_SECTION = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


@functools.cache
def load_sections(page: str) -> dict[str, str]:
    """All sections of a file by name, as English Markdown; `{{name}}` stands for a number."""
    return split_sections((TEXTS / "en" / f"{page}.md").read_text(encoding="utf-8"))


def split_sections(markdown: str) -> dict[str, str]:
    """The sections of a file's text by name."""
    return {name: text.strip() for name, text in _SECTION.findall(markdown)}


def translate_section(page: str, name: str) -> str:
    """One section in the visitor's language; what it means depends on where it stands."""
    text, language = load_sections(page)[name], _LANGUAGE.get()
    if language == ENGLISH:
        return text
    return _catalogue(TEXTS / f"{language}.po").pgettext(f"{page}/{name}", text)
