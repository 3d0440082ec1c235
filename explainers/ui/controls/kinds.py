"""Kinds of controls: each keeps its value in the URL, and says so when it cannot obey a link."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from explainers.phrase import phrase
from explainers.ui.controls.links import Control, one_of, whole
from explainers.ui.controls.worded import URL, Worded


@dataclass(frozen=True)
class Whole(Control):
    """A slider over whole numbers."""

    low: int
    high: int

    def __call__(self, fixed: int | None = None) -> int:
        """A `fixed` number is shown and cannot be changed; the reader's own comes back later."""
        if fixed is not None:
            self.put_aside(range(self.low, self.high + 1), self._allowed)
            return self._slider(fixed, disabled=True)
        asked = self.asked()
        value = self._slider(self.default, key=self.key, bind=URL)
        self.keep(value)
        return self.told(asked, value, self._allowed)

    def _slider(self, value: int, **more: Any) -> int:
        return st.slider(min_value=self.low, max_value=self.high, value=value, **self.words, **more)

    @property
    def _allowed(self) -> str:
        return whole(self.low, self.high)


@dataclass(frozen=True)
class Ladder(Control):
    """A slider over chosen values, such as powers of two."""

    steps: tuple[float, ...]

    def __call__(self, fixed: float | None = None) -> Any:
        """A `fixed` value is shown and cannot be changed; the reader's own comes back later."""
        if fixed is not None:
            self.put_aside(self.steps, one_of(self.steps))
            return st.select_slider(options=self.steps, value=fixed, disabled=True, **self.words)
        asked = self.asked()
        value = st.select_slider(
            options=self.steps, value=self.default, key=self.key, bind=URL, **self.words
        )
        self.keep(value)
        return self.told(asked, value, one_of(self.steps))


@dataclass(frozen=True)
class Choice(Worded):
    """One of a few named options, all of them in sight."""

    options: tuple[str, ...] = ()

    def __call__(self, options: Sequence[str] = ()) -> str:
        """Offer the control's own options, or those that a page finds in a registry."""
        options = options or self.options
        default = self.default if self.default in options else options[-1]
        asked = self.asked()
        if st.session_state.get(self.key, default) not in options:  # chosen among others, or None
            st.session_state[self.key] = default
        value = st.segmented_control(
            options=options,
            default=default,
            key=self.key,
            required=True,
            **self.words,
            **self.tied(options, default),
        )
        self.tie(value or default, options, default)
        shown = self.told(asked, value or default, one_of(options))
        if value is None:  # an empty value in a link: Streamlit obeys, although one is required
            st.rerun()
        return shown


@dataclass(frozen=True)
class Listed(Worded):
    """One of a list of names that depends on the page; the list can be searched."""

    width: int = field(default=150, kw_only=True)

    def __call__(self, names: Sequence[str], default: str) -> str:
        asked = self.asked()
        if st.session_state.get(self.key, default) not in names:
            st.session_state[self.key] = default
        value = st.selectbox(
            options=names,
            index=names.index(default),
            key=self.key,
            width=self.width,
            **self.words,
            **self.tied(names, default),
        )
        self.tie(value, names, default)
        return self.told(asked, value, one_of(names))


@dataclass(frozen=True)
class Switch(Control):
    """On or off."""

    def __call__(self) -> bool:
        asked = self.asked()
        value = st.toggle(value=self.default, key=self.key, bind=URL, **self.words)
        self.keep(value)
        return self.told(asked, value, phrase("true or false"))
