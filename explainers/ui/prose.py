"""The pages' text, kept apart from code: `assets/text/en/<page>.md`, a section per remark."""

import functools
import re
from collections.abc import Callable
from pathlib import Path

import streamlit as st

TEXTS = Path(__file__).parents[2] / "assets" / "text" / "en"
_SECTION = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"\{\{(\w+)\}\}")


@functools.cache
def sections(page: str) -> dict[str, str]:
    """All remarks of a page by name, as Markdown; `{{name}}` stands for a number."""
    found = _SECTION.findall((TEXTS / f"{page}.md").read_text(encoding="utf-8"))
    return {name: text.strip() for name, text in found}


def prose(page_file: str) -> Callable[..., None]:
    """A function that shows a remark of this page, with the numbers it is given."""
    page = Path(page_file).stem

    def show(name: str, **numbers: object) -> None:
        st.markdown(filled(page, name, **numbers))

    return show


def filled(page: str, name: str, **numbers: object) -> str:
    """A remark with its numbers; a number that the text asks for and nobody gives is an error."""
    return _NUMBER.sub(lambda slot: str(numbers[slot[1]]), sections(page)[name])
