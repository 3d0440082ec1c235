"""What we change inside Streamlit where it has no setting: all of it, and why.

What no browser says: a number where a widget has names. Streamlit hands a value to its widget as it
comes. The widget would raise, the page would end there, and for one small message a traceback would
be put together and logged. Here the widget keeps what it had.

What costs time in every run and says nothing new. The colours of the app are part of each run's
first message, put together anew from 300 settings. For each part of a page that can run by itself,
Streamlit copies its place on the page twice, by way of Python's general copying.
"""

import functools
from copy import deepcopy
from typing import Any

from streamlit.cursor import RunningCursor
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime import app_session
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.state.session_state import Serialized, Value, WStates

NUMBERS = {"double_value", "int_value"}
"""A field of numbers says that it is one or the other after what stands in it."""
_read, _take_up = WStates.__getitem__, WStates.set_widget_from_proto
_read_theme = app_session._populate_theme_msg


def take_up_possible(states: WStates, widget_state: WidgetState) -> None:
    """Take up what a message says of a widget that was drawn before, if the widget can be that."""
    _take_up(states, widget_state)
    if not _is_possible(states, widget_state.id):
        del states.states[widget_state.id]


def read_or_default(states: WStates, widget: str) -> Any:
    """The value of a widget; its default, if a message came before the widget and was odd."""
    if isinstance(states.states.get(widget), Serialized) and not _is_possible(states, widget):
        states.states[widget] = Value(states.widget_metadata[widget].deserializer(None))
    return _read(states, widget)


def _is_possible(states: WStates, widget: str) -> bool:
    state, metadata = states.states.get(widget), states.widget_metadata.get(widget)
    if not isinstance(state, Serialized) or metadata is None:
        return True
    kind = state.value.WhichOneof("value")
    if kind not in (None, metadata.value_type) and not {kind, metadata.value_type} <= NUMBERS:
        return False
    try:
        _read(states, widget)
    except Exception:  # a widget may raise anything
        return False
    return True


@functools.cache
def _make_theme(section: str) -> CustomThemeConfig:
    theme = CustomThemeConfig()
    _read_theme(theme, section)
    return theme


def copy_theme(message: CustomThemeConfig, section: str = "theme") -> None:
    """The colours of a section of the settings, which were read once."""
    if _make_theme(section).ByteSize():
        message.MergeFrom(_make_theme(section))


def copy_place(cursor: RunningCursor, memo: dict[int, Any]) -> RunningCursor:
    """A place on the page that moves on independently."""
    elements = deepcopy(cursor.transient_elements, memo) if cursor.transient_elements else None
    copied = RunningCursor(
        cursor.root_container, cursor.parent_path, cursor._transient_index, elements
    )
    copied._index = cursor.index
    return copied


def change_streamlit() -> None:
    """From here on; there is no setting for any of it."""
    WStates.set_widget_from_proto = take_up_possible  # type: ignore[assignment, method-assign]
    WStates.__getitem__ = read_or_default  # type: ignore[method-assign]
    app_session._populate_theme_msg = copy_theme  # type: ignore[assignment]
    RunningCursor.__deepcopy__ = copy_place  # type: ignore[attr-defined]
    # Until `contents.py` has run, Streamlit would take the folder `pages` for its older kind of
    # app: show the first visitor names of files, and run a linked page alone, without contents.
    PagesManager.uses_pages_directory = False
