"""The kinds of controls whose values are words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from explainers.messages import N_
from explainers.translations import _
from explainers.ui.controls.base import URL, Control, choose_or_type, one_of

MOST_CHARACTERS = 300
"""Of a model's name that a reader types."""


@dataclass(frozen=True)
class Choice(Control):
    """One of a few named options, all of them in sight."""

    options: tuple[str, ...] = ()

    def __call__(self, options: Sequence[str] = ()) -> str:
        """Offer the control's own options, or those that a page finds in a registry."""
        options = options or self.options
        default = self.default if self.default in options else options[-1]
        look = {"default": default, "required": True}
        shown = _choose(self, st.segmented_control, options, default, look)
        if st.session_state[self.key] is None:  # an empty value in a link: Streamlit obeys it
            st.rerun()
        return shown


@dataclass(frozen=True)
class Listed(Control):
    """One of a list of names that depends on the page; the list can be searched."""

    width: int = field(default=150, kw_only=True)

    def __call__(self, names: Sequence[str], default: str) -> str:
        look = {"index": names.index(default), "width": self.width}
        return _choose(self, st.selectbox, names, default, look)


@dataclass(frozen=True)
class Described(Control):
    """One of some names with a sentence each below it; the first one stands for no choice."""

    def __call__(self, names: Sequence[str], sentences: Sequence[str]) -> str:
        look = {"captions": [_(sentence) for sentence in sentences]}
        return _choose(self, st.radio, names, names[0], look)


def _choose(
    control: Control,
    widget: Callable[..., str | None],
    options: Sequence[str],
    default: str,
    look: dict[str, Any],
) -> str:
    asked = control.asked()
    if st.session_state.get(control.key, default) not in options:  # chosen among others, or None
        st.session_state[control.key] = default
    tie = control.bind(options, default)
    value = widget(options=options, key=control.key, **look, **control.words, **tie) or default
    control.save(value, options, default)
    return control.report_bad_link(asked, value, one_of(options))


@dataclass(frozen=True)
class Text(Control):
    """A line of text of at most `most` characters; an empty one stands for the default."""

    most: int

    def __call__(self) -> str:
        asked = self.asked()
        typed = st.text_input(
            value=self.default, max_chars=self.most, key=self.key, bind=URL, **self.words
        )
        allowed = N_("a text of at most {most} characters", most=self.most)
        return self.settle(asked, typed or "", allowed).strip() or self.default


@dataclass(frozen=True)
class ModelName(Control):
    """One of a list of models, or another one whose name the reader types."""

    def __call__(self, names: Sequence[str]) -> str:
        asked = self.asked()
        own = st.session_state.get(self.key) or asked
        names = [*names, own] if own and own not in names else list(names)
        value = choose_or_type(self, names, width=380)
        allowed = N_("owner/name of a model, or a folder where the server reads them")
        self.settle(asked, value, allowed)
        return (value or self.default)[:MOST_CHARACTERS]


@dataclass(frozen=True)
class Several(Control):
    """Any number of named options at once; a link repeats the control's name for each."""

    def __call__(self, options: Sequence[str]) -> tuple[str, ...]:
        """Offer the options; one that the page no longer has is dropped."""
        asked, wanted = self._start(options)
        default = list(self.default)
        chosen = st.pills(
            options=options,
            selection_mode="multi",
            default=default,
            key=self.key,
            **self.words,
            **self.bind(options, default),
        )
        is_disobeyed = asked is not None and set(wanted) != set(chosen)
        return self._finish(wanted if is_disobeyed else None, chosen, options, one_of(options))

    def now(self) -> list[str]:
        """What is chosen, or linked, before the control is drawn."""
        linked = st.query_params.get_all(self.key) if self.asked() is not None else []
        return [*st.session_state.get(self.key, linked)]

    def add(self, option: str) -> None:
        """Choose one more, before the control is drawn."""
        if option not in self.now():
            st.session_state[self.key] = [*self.now(), option]

    def linked(self) -> list[str] | None:
        """The names in the URL; an empty one is what stands there when all were taken away."""
        return st.query_params.get_all(self.key) or None

    def in_link(self, value: Any) -> list[str]:
        """How the URL has it."""
        return list(value) or [""]

    def possible(self, asked: Any, options: Sequence[str]) -> Any:
        """Those of a link that are offered."""
        return [one for one in asked if one in options]

    def _start(self, options: Sequence[str]) -> tuple[str | None, list[str]]:
        asked = self.asked()
        # An empty value is what Streamlit writes when all were taken away.
        wanted = [one for one in st.query_params.get_all(self.key) if one] if asked else []
        kept = st.session_state.get(self.key) or []
        if not set(kept) <= set(options):  # Streamlit raises if what it keeps is no option any more
            st.session_state[self.key] = [one for one in kept if one in options]
        return asked, wanted

    def _finish(
        self, wanted: list[str] | None, chosen: Sequence[str], options: Sequence[str], allowed: str
    ) -> tuple[str, ...]:
        self.save(list(chosen), options, list(self.default))
        asked = None if wanted is None else ", ".join(wanted)
        self.report_bad_link(asked, ", ".join(chosen) or _("none"), allowed)
        return tuple(chosen)


@dataclass(frozen=True)
class SeveralOfMany(Several):
    """Up to `most` of many names, in a list that can be searched."""

    most: int

    def __call__(self, options: Sequence[str]) -> tuple[str, ...]:
        """Offer the options; of those that a link asks for, as many as there may be are taken."""
        asked, wanted = self._start(options)
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
            **self.bind(options, default),
        )
        is_disobeyed = asked is not None and wanted != list(chosen)
        allowed = N_("up to {most} of those that the list names", most=self.most)
        return self._finish(wanted if is_disobeyed else None, chosen, options, allowed)
