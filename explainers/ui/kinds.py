"""Kinds of controls: each keeps its value in the URL, and says so when it cannot obey a link."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import streamlit as st

from explainers.ui.links import Control, one_of

URL: Final = "query-params"


@dataclass(frozen=True)
class Whole(Control):
    """A slider over whole numbers."""

    low: int
    high: int

    def __call__(self, fixed: int | None = None) -> int:
        """A `fixed` number is shown and cannot be changed; the reader's own comes back later."""
        if fixed is not None:
            self.put_aside(range(self.low, self.high + 1), self._allowed)
            return st.slider(self.label, self.low, self.high, fixed, help=self.help, disabled=True)
        asked = self.asked()
        value = st.slider(
            self.label, self.low, self.high, self.default, key=self.key, bind=URL, help=self.help
        )
        self.keep(value)
        return self.told(asked, value, self._allowed)

    @property
    def _allowed(self) -> str:
        return f"a whole number from {self.low} to {self.high}"


@dataclass(frozen=True)
class Ladder(Control):
    """A slider over chosen values, such as powers of two."""

    steps: tuple[float, ...]

    def __call__(self, fixed: float | None = None) -> Any:
        """A `fixed` value is shown and cannot be changed; the reader's own comes back later."""
        if fixed is not None:
            self.put_aside(self.steps, one_of(self.steps))
            return st.select_slider(self.label, self.steps, fixed, help=self.help, disabled=True)
        asked = self.asked()
        value = st.select_slider(
            self.label, self.steps, self.default, key=self.key, bind=URL, help=self.help
        )
        self.keep(value)
        return self.told(asked, value, one_of(self.steps))


@dataclass(frozen=True)
class Choice(Control):
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
            self.label,
            options,
            default=default,
            key=self.key,
            bind=URL,
            required=True,
            help=self.help,
        )
        self.keep(value or default)
        shown = self.told(asked, value or default, one_of(options))
        if value is None:  # an empty value in a link: Streamlit obeys, although one is required
            st.rerun()
        return shown


@dataclass(frozen=True)
class Listed(Control):
    """One of a list of names that depends on the page; the list can be searched."""

    width: int = field(default=150, kw_only=True)

    def __call__(self, names: Sequence[str], default: str) -> str:
        asked = self.asked()
        if st.session_state.get(self.key, default) not in names:
            st.session_state[self.key] = default
        value = st.selectbox(
            self.label,
            names,
            names.index(default),
            key=self.key,
            bind=URL,
            help=self.help,
            width=self.width,
        )
        self.keep(value)
        return self.told(asked, value, one_of(names))


@dataclass(frozen=True)
class Switch(Control):
    """On or off."""

    def __call__(self) -> bool:
        asked = self.asked()
        value = st.toggle(self.label, self.default, key=self.key, bind=URL, help=self.help)
        self.keep(value)
        return self.told(asked, value, "true or false")
