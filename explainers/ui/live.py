"""Choices made in the browser by a component, with their place in the URL like any other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explainers.ui.links import VISIT, Control, means, one_of


@dataclass(frozen=True)
class Unbound(Control):
    """A choice that no widget of Streamlit's makes.

    Streamlit binds only its own widgets to the URL, so this one writes its place there itself.
    """

    def held(self, read: Callable[[str], Any]) -> tuple[str | None, Any]:
        """What the link wants, if it is to be heard, and the choice; `read` gives None for no."""
        asked = st.query_params.get(self.key)
        visit, written = st.session_state.get(VISIT), st.session_state.get(self._written)
        is_new = self.key not in st.session_state
        is_elsewhere = written and written[0] == visit and written[1] != asked
        # At a click, the browser's address may still lag behind what was written after the last.
        is_late = st.session_state.pop(self._changed, False)
        if is_new or (is_elsewhere and not is_late):
            # A link, or the browser's Back. A page that is opened again has lost its place there.
            wanted = None if asked is None else read(asked)
            st.session_state[self.key] = self.default if wanted is None else wanted
        else:
            asked = None
        return asked, st.session_state[self.key]

    def put(self, value: Any) -> None:
        """Take over what the browser says; a callback."""
        st.session_state[self.key] = value
        st.session_state[self._changed] = True

    def write(self, value: Any) -> None:
        """Put the choice into the URL, or take it out if it is the default."""
        shown = f"{value:g}" if isinstance(value, int | float) else value
        text = None if value == self.default else shown
        if text is None:
            st.query_params.pop(self.key, None)
        else:
            st.query_params[self.key] = text
        st.session_state[self._written] = st.session_state.get(VISIT), text

    @property
    def _changed(self) -> str:
        return f"{self.key} changed"

    @property
    def _written(self) -> str:
        return f"{self.key} written"


@dataclass(frozen=True)
class Live(Unbound):
    """A slider that a component moves in the browser, without waiting for the server."""

    steps: tuple[float, ...]

    def __call__(self, steps: Sequence[float] = ()) -> int:
        """The place of the chosen step among `steps`, by default the control's own."""
        steps = steps or self.steps
        asked, value = self.held(lambda text: next((s for s in steps if means(text, s)), None))
        self.told(asked, value, one_of(steps))
        self.write(value)
        return min(range(len(steps)), key=lambda place: abs(steps[place] - value))
