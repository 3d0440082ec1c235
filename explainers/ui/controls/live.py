"""Choices made in the browser by a component, with their place in the URL like any other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explainers.ui.controls.links import VISIT, Control, means, one_of


@dataclass(frozen=True)
class Unbound(Control):
    """A choice that no widget of Streamlit's makes.

    Streamlit binds only its own widgets to the URL, so this one writes its place there itself.
    """

    def held(self, read: Callable[[Any], Any], default: Any = None) -> tuple[Any, Any]:
        """What the link wants, if it is to be heard, and the choice; `read` gives None for no."""
        default = self.default if default is None else default
        asked = self.linked()
        visit, written = st.session_state.get(VISIT), st.session_state.get(self._written)
        is_new = self.key not in st.session_state
        is_elsewhere = written and written[0] == visit and written[1] != asked
        # At a click, the browser's address may still lag behind what was written after the last.
        is_late = st.session_state.pop(self._changed, False)
        if is_new or (is_elsewhere and not is_late):
            # A link, or the browser's Back. A page that is opened again has lost its place there.
            wanted = None if asked is None else read(asked)
            st.session_state[self.key] = default if wanted is None else wanted
        else:
            asked = None
        return asked, st.session_state[self.key]

    def put(self, value: Any) -> None:
        """Take over what the browser says; a callback."""
        st.session_state[self.key] = value
        st.session_state[self._changed] = True

    def write(self, value: Any, default: Any = None) -> None:
        """Put the choice into the URL, or take it out if it is the default."""
        default = self.default if default is None else default
        text = None if value == default else self.in_link(value)
        self._send(text)
        st.session_state[self._written] = st.session_state.get(VISIT), text

    def linked(self) -> Any:
        """What stands in the URL."""
        return st.query_params.get(self.key)

    def in_link(self, value: Any) -> Any:
        """How the URL has it."""
        return f"{value:g}" if isinstance(value, int | float) else value

    def _send(self, text: Any) -> None:
        if text is None:
            st.query_params.pop(self.key, None)
        else:
            st.query_params[self.key] = text

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
