"""A slider that a component moves in the browser, with its place in the URL like any other."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from explainers.ui.links import VISIT, Control, means, one_of


@dataclass(frozen=True)
class Live(Control):
    """A slider that a component moves in the browser, without waiting for the server.

    Streamlit binds only its own widgets to the URL, so this one writes its place there itself.
    """

    steps: tuple[float, ...]

    def __call__(self, steps: Sequence[float] = ()) -> int:
        """The place of the chosen step among `steps`, by default the control's own."""
        steps = steps or self.steps
        asked = st.query_params.get(self.key)
        visit, written = st.session_state.get(VISIT), st.session_state.get(self._written)
        is_new = self.key not in st.session_state
        if is_new or (written and written[0] == visit and written[1] != asked):
            # A link, or the browser's Back. A page that is opened again has lost its place there.
            wanted = [step for step in steps if asked is not None and means(asked, step)]
            st.session_state[self.key] = wanted[0] if wanted else self.default
        else:
            asked = None
        value = st.session_state[self.key]
        self.told(asked, value, one_of(steps))
        self._write(None if value == self.default else f"{value:g}", visit)
        return min(range(len(steps)), key=lambda place: abs(steps[place] - value))

    def put(self, value: float) -> None:
        """Take over what the browser says; a callback."""
        st.session_state[self.key] = value

    @property
    def _written(self) -> str:
        return f"{self.key} written"

    def _write(self, text: str | None, visit: int | None) -> None:
        if text is None:
            st.query_params.pop(self.key, None)
        else:
            st.query_params[self.key] = text
        st.session_state[self._written] = visit, text
