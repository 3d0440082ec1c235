"""Texts where they are shown: translated into the language of the visitor whose run this is.

English stands in the code and in the pages' Markdown, `assets/text/en/<page>.md`, and takes no
detour; `assets/text/<language>.po` has the words of the other languages, and what a file lacks is
said in English.
"""

import functools
import io
import re
from contextvars import ContextVar
from gettext import GNUTranslations
from pathlib import Path

from explainers.folders import ASSETS
from explainers.local_numbers import fill_slots, is_numeric, localise_numbers, write_value
from explainers.messages import Message, get_message

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


def pgettext(context: str, text: str) -> str:
    """A text whose meaning depends on where it stands, such as `<page>/<section>`."""
    language = _LANGUAGE.get()
    return (
        text
        if language == ENGLISH
        else _catalogue(TEXTS / f"{language}.po").pgettext(context, text)
    )


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
    return fill_slots(form, slots, language)


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
    """One section in the visitor's language."""
    return pgettext(f"{page}/{name}", load_sections(page)[name])
