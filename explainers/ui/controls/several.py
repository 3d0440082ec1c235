"""Any number of named options at once; a link repeats the control's name for each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explainers.phrase import phrase
from explainers.ui.controls.links import one_of
from explainers.ui.controls.worded import Worded
from explainers.ui.text.language import said


@dataclass(frozen=True)
class Among(Worded):
    """What is chosen among many may be gone the next time."""

    def linked(self) -> list[str] | None:
        """The names in the URL; an empty one is what stands there when all were taken away."""
        return st.query_params.get_all(self.key) or None

    def in_link(self, value: Any) -> list[str]:
        """How the URL has it."""
        return list(value) or [""]

    def _possible(self, asked: Any, options: Sequence[str]) -> Any:
        return [one for one in asked if one in options]

    def give_up(self, options: Sequence[str]) -> None:
        """Streamlit raises if what it keeps is no option any more."""
        kept = st.session_state.get(self.key) or []
        if not set(kept) <= set(options):
            st.session_state[self.key] = [one for one in kept if one in options]


@dataclass(frozen=True)
class Several(Among):
    """Options of which none, some or all are chosen."""

    def __call__(self, options: Sequence[str]) -> tuple[str, ...]:
        """Offer the options; one that the page no longer has is given up."""
        asked = self.asked()
        # An empty value is what Streamlit writes when all were taken away.
        wanted = [one for one in st.query_params.get_all(self.key) if one] if asked else []
        self.give_up(options)
        default = list(self.default)
        chosen = st.pills(
            options=options,
            selection_mode="multi",
            default=default,
            key=self.key,
            **self.words,
            **self.tied(options, default),
        )
        self.tie(list(chosen), options, default)
        is_disobeyed = asked is not None and set(wanted) != set(chosen)
        shown = ", ".join(chosen) or said("none")
        self.told(", ".join(wanted) if is_disobeyed else None, shown, one_of(options))
        return tuple(chosen)

    def now(self) -> list[str]:
        """What is chosen, or linked, before the control is drawn."""
        linked = st.query_params.get_all(self.key) if self.asked() is not None else []
        return [*st.session_state.get(self.key, linked)]

    def add(self, option: str) -> None:
        """Choose one more, before the control is drawn."""
        if option not in self.now():
            st.session_state[self.key] = [*self.now(), option]


@dataclass(frozen=True)
class Listing(Among):
    """Up to `most` of many names, in a list that can be searched."""

    most: int

    def __call__(self, options: Sequence[str]) -> tuple[str, ...]:
        """Offer the options; of those that a link asks for, as many as there may be are taken."""
        asked = self.asked()
        wanted = [one for one in st.query_params.get_all(self.key) if one] if asked else []
        self.give_up(options)
        if wanted:
            # Streamlit raises if a link asks for more than there may be.
            possible = list(dict.fromkeys(one for one in wanted if one in options))[: self.most]
            st.session_state[self.key] = possible or list(self.default)
        default = list(self.default)
        chosen = st.multiselect(
            options=options,
            default=default,
            key=self.key,
            max_selections=self.most,
            **self.words,
            **self.tied(options, default),
        )
        self.tie(list(chosen), options, default)
        is_disobeyed = asked is not None and wanted != list(chosen)
        allowed = phrase("up to {most} of those that the list names", most=self.most)
        shown = ", ".join(chosen) or said("none")
        self.told(", ".join(wanted) if is_disobeyed else None, shown, allowed)
        return tuple(chosen)
