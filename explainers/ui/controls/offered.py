"""A whole number of which a page may offer only some: there are not weights for every size."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from explainers.ui.controls.links import Control, means, one_of, whole
from explainers.ui.controls.worded import URL


@dataclass(frozen=True)
class Size(Control):
    """A slider over whole numbers, or over those of them that a page offers."""

    low: int
    high: int

    def __call__(self, offered: Sequence[int] = (), opens_with: int | None = None) -> int:
        """A choice that is not offered becomes the nearest one that is.

        `opens_with` is shown until the reader chooses, also where another page opens with another
        number.
        """
        asked, opened = self.asked(), f"{self.key} opened with"
        options = list(offered or range(self.low, self.high + 1))
        default = self.default if opens_with is None else opens_with
        wanted = self._wanted(asked, default)
        if wanted == st.session_state.get(opened) and asked is None:
            wanted = default
        nearest = min(options, key=lambda one: abs(one - wanted))
        if asked is not None or nearest != st.session_state.get(self.key, default):
            st.session_state[self.key] = nearest
        st.session_state[opened] = default
        value = st.select_slider(
            options=options, value=default, key=self.key, bind=URL, **self.words
        )
        self.keep(value)
        allowed = one_of(options) if offered else whole(self.low, self.high)
        return self.told(asked, value, allowed)

    def _wanted(self, asked: str | None, default: int) -> int:
        """The number that is asked for by a link, or was chosen, whether it is offered or not."""
        if asked is None:
            return st.session_state.get(self.key, default)
        possible = range(self.low, self.high + 1)
        return next((number for number in possible if means(asked, number)), default)
