"""The visitor's language: chosen by a switch or a link, else the browser's, else English.

English stands where it is used. `assets/text/<language>.po` has the words of every other language,
and what a file lacks is said in English.
"""

import functools
from functools import partial
from gettext import NullTranslations

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from explainers.folders import ASSETS
from explainers.phrase import Phrase

TEXTS = ASSETS / "text"
ENGLISH, LANGUAGE = "en", "lang"
SPOKEN = "language that is spoken"
"""Kept in the session's state, where fragments find it too."""


@functools.cache
def languages() -> dict[str, str]:
    """What each language calls itself, by its code; the first line of its file says it."""
    found = {ENGLISH: "English"}
    for path in sorted(TEXTS.glob("*.po")):
        with path.open(encoding="utf-8") as file:
            found[path.stem] = file.readline().strip("# \n")
    return found


def language() -> str:
    """The code of the language in which this visitor is spoken to."""
    if get_script_run_ctx(suppress_warning=True) is None:  # a thread of work, or a test
        return ENGLISH
    return st.session_state.get(SPOKEN, ENGLISH)


def said(text: str, /, **slots: object) -> str:
    """A text of the code in the visitor's language, its `{name}` slots filled.

    The text is written out in the call, so that the tool that collects texts finds it.
    """
    spoken = language()
    return _filled(spoken, in_language(spoken, text), slots)


def translated(text: str) -> str:
    """Words that were written elsewhere, as a `phrase` or a control's label, in the visitor's."""
    return in_language(language(), text)


def in_language(spoken: str, text: str) -> str:
    """The same for work that goes on when the visitor's run is over, such as making files."""
    if spoken == ENGLISH or not text:  # an empty text would be looked up as the file's header
        return text
    if isinstance(text, Phrase):
        return _filled(spoken, _words(spoken).gettext(text.template), text.slots)
    return _words(spoken).gettext(text)


def section(name: str, text: str) -> str:
    """A section of a page, `<page>/<section>`, in the visitor's language."""
    spoken = language()
    return text if spoken == ENGLISH else _words(spoken).pgettext(name, text)


def _filled(spoken: str, text: str, slots: dict[str, object]) -> str:
    if not slots:  # braces are braces
        return text
    said_of = partial(in_language, spoken)
    return text.format(
        **{name: said_of(it) if isinstance(it, Phrase) else it for name, it in slots.items()}
    )


@functools.cache
def _words(spoken: str) -> NullTranslations:
    from explainers.ui.text.catalogue import translations  # English needs no reader of catalogues

    return translations(TEXTS / f"{spoken}.po")
