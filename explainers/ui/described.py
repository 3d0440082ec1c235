"""One of a list whose entries need a sentence each to be told apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from explainers.ui.kinds import URL
from explainers.ui.links import Control, one_of


@dataclass(frozen=True)
class Described(Control):
    """Radio buttons, each with its sentence below it; the first one stands for no choice."""

    def __call__(self, names: Sequence[str], sentences: Sequence[str]) -> str:
        asked = self.asked()
        if st.session_state.get(self.key, names[0]) not in names:  # chosen in another list
            st.session_state[self.key] = names[0]
        value: str = st.radio(
            self.label, names, key=self.key, bind=URL, help=self.help, captions=sentences
        )
        self.keep(value)
        return self.told(asked, value, one_of(names))
