"""Choices among words that a visitor reads in another language than the link has."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import streamlit as st

from explainers.ui.controls.live import Unbound
from explainers.ui.text.language import ENGLISH, language, translated

URL: Final = "query-params"


@dataclass(frozen=True)
class Worded(Unbound):
    """A choice among words: English in every link, in the visitor's language on screen.

    Streamlit writes into the URL what stands on the screen. A widget whose words are other ones is
    therefore not bound, and its place in the URL is kept here.
    """

    def tied(self, options: Sequence[str], default: Any) -> dict[str, Any]:
        """What ties a widget of Streamlit's to its place in the URL."""
        if not are_other_words(options):
            return {"bind": URL}
        self.held(lambda asked: self._possible(asked, options), default)
        # Found by its English, as links have it: what is put together from slots has only that.
        shown = {option: translated(option) for option in options}
        return {"format_func": lambda option: shown.get(option, option), "on_change": self._touched}

    def tie(self, value: Any, options: Sequence[str], default: Any) -> None:
        """Keep the choice for other pages and, where Streamlit does not, in the URL."""
        self.keep(value)
        if are_other_words(options):
            self.write(value, default)

    def _possible(self, asked: Any, options: Sequence[str]) -> Any:
        return next((one for one in options if one == asked), None)  # it may be a phrase

    def _send(self, text: Any) -> None:
        if text != self.linked():  # most are as they were, and each message costs time
            super()._send(text)

    def _touched(self) -> None:
        st.session_state[self._changed] = True


def are_other_words(options: Sequence[str]) -> bool:
    """Does the visitor read other words than stand in links?"""
    return language() != ENGLISH and any(translated(option) != option for option in options)
