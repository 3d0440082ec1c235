"""Something that has a name of the reader's own choice."""

from dataclasses import dataclass

import streamlit as st

from explainers.phrase import phrase
from explainers.ui.controls.links import Control
from explainers.ui.controls.worded import URL


@dataclass(frozen=True)
class Named(Control):
    """A line of text of at most `most` characters; an empty one stands for the default."""

    most: int

    def __call__(self) -> str:
        asked = self.asked()
        typed = st.text_input(
            value=self.default, max_chars=self.most, key=self.key, bind=URL, **self.words
        )
        self.keep(typed)
        allowed = phrase("a text of at most {most} characters", most=self.most)
        shown = self.told(asked, typed or "", allowed)
        return shown.strip() or self.default
