"""Something that has a name of the reader's own choice."""

from dataclasses import dataclass

import streamlit as st

from explainers.ui.kinds import URL
from explainers.ui.links import Control


@dataclass(frozen=True)
class Named(Control):
    """A line of text of at most `most` characters; an empty one stands for the default."""

    most: int

    def __call__(self) -> str:
        asked = self.asked()
        typed = st.text_input(
            self.label, self.default, max_chars=self.most, key=self.key, bind=URL, help=self.help
        )
        self.keep(typed)
        shown = self.told(asked, typed or "", f"a text of at most {self.most} characters")
        return shown.strip() or self.default
