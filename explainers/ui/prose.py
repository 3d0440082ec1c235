"""The pages' text, kept apart from code: `assets/text/en/<page>.md`, a section per remark."""

import functools
import re
from contextlib import nullcontext
from pathlib import Path

import streamlit as st

from explainers.phrase import Phrase
from explainers.ui.language import TEXTS, section, translated
from explainers.ui.lecturing import screen

_SECTION = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
LAST = "notice"
"""The section that is about the whole page."""
_NUMBER = re.compile(r"\{\{(\w+)\}\}")


@functools.cache
def sections(page: str) -> dict[str, str]:
    """All remarks of a page by name, as Markdown; `{{name}}` stands for a number."""
    return read_sections((TEXTS / "en" / f"{page}.md").read_text(encoding="utf-8"))


def read_sections(written: str) -> dict[str, str]:
    """The sections of a file by name."""
    return {name: text.strip() for name, text in _SECTION.findall(written)}


class Prose:
    """The remarks of one page; calling it with a name shows one."""

    def __init__(self, page_file: str) -> None:
        self.page = Path(page_file).stem

    def __call__(self, name: str, **numbers: object) -> None:
        """Show a remark with its numbers; one that the text asks for must be given."""
        with screen("page", name) if name == LAST else nullcontext():
            st.markdown(self.filled(name, **numbers))

    def filled(self, name: str, **numbers: object) -> str:
        """The same for a file that is taken away."""
        text = section(f"{self.page}/{name}", sections(self.page)[name])
        # In the file a heading stands below its section's name, on the page below the title.
        raised = re.sub("^###", "##", text, flags=re.MULTILINE)
        return _NUMBER.sub(lambda slot: _told(numbers[slot[1]]), raised)


def _told(number: object) -> str:
    return translated(number) if isinstance(number, Phrase) else str(number)
