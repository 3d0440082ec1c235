"""One of a list whose entries need a sentence each to be told apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from explainers.ui.controls.links import one_of
from explainers.ui.controls.worded import Worded
from explainers.ui.text.language import translated


@dataclass(frozen=True)
class Described(Worded):
    """Radio buttons, each with its sentence below it; the first one stands for no choice."""

    def __call__(self, names: Sequence[str], sentences: Sequence[str]) -> str:
        asked = self.asked()
        if st.session_state.get(self.key, names[0]) not in names:  # chosen in another list
            st.session_state[self.key] = names[0]
        value: str = st.radio(
            options=names,
            key=self.key,
            captions=[translated(sentence) for sentence in sentences],
            **self.words,
            **self.tied(names, names[0]),
        )
        self.tie(value, names, names[0])
        return self.told(asked, value, one_of(names))
