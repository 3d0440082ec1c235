"""A number to count up and down, which comes back when there is room for it again."""

import math
from dataclasses import dataclass

import streamlit as st

from explainers.ui.controls.links import Control, means, whole
from explainers.ui.controls.worded import URL

BEYOND = "numbers for which there is no room"


@dataclass(frozen=True)
class Counter(Control):
    """A number to count up and down, whose range may depend on the sentence.

    For one that was chosen when there was more room the nearest stands in until there is again.
    """

    def __call__(self, low: int, high: int) -> int:
        asked, beyond = self.asked(), st.session_state.setdefault(BEYOND, {})
        wanted, instead = beyond.pop(self.key, (None, None))
        kept = st.session_state.get(self.key)
        if wanted is None or kept != instead:  # the reader has chosen another one since
            wanted = kept
        if wanted is not None and kept != min(max(wanted, low), high):
            st.session_state[self.key] = min(max(wanted, low), high)
        default, allowed = min(max(self.default, low), high), whole(low, high)
        if asked and (means(asked, math.inf) or means(asked, -math.inf)):
            st.query_params.pop(self.key)  # Streamlit would raise: no int is infinite
            self.told(asked, default, allowed)
            st.rerun()
        limits = {"min_value": low, "max_value": high, "value": default}
        value = st.number_input(key=self.key, bind=URL, width=150, **limits, **self.words)
        if wanted is None:
            wanted = value if asked and means(asked, value) else self.default
        if wanted != value:
            beyond[self.key] = wanted, value
        self.keep(wanted)
        return self.told(asked, value, allowed)

    def put(self, value: int) -> None:
        """Take over a number that was clicked; a callback."""
        st.session_state[self.key] = value
        st.session_state.get(BEYOND, {}).pop(self.key, None)
