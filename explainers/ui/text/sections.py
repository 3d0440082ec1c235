"""The text of the pages, `assets/text/en/<page>.md`, read and split into its named sections."""

import functools
import re

from explainers.translations import TEXTS, pgettext

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
