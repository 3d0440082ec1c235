"""What no browser says: a number where a widget has names. The widget then keeps what it had.

Streamlit hands a value to its widget as it comes. The widget would raise, the page would end there,
and for one small message a traceback would be put together and logged.
"""

from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.session_state import Serialized, Value, WStates

NUMBERS = {"double_value", "int_value"}
"""A field of numbers says that it is one or the other after what stands in it."""
_read, _take_up = WStates.__getitem__, WStates.set_widget_from_proto


def take_up_possible(states: WStates, widget_state: WidgetState) -> None:
    """Take up what a message says of a widget that was drawn before, if the widget can be that."""
    _take_up(states, widget_state)
    if not _is_possible(states, widget_state.id):
        del states.states[widget_state.id]


def read_or_default(states: WStates, widget: str) -> Any:
    """The value of a widget; its default, if a message came before the widget and was odd."""
    if not _is_possible(states, widget):
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


def refuse_odd_values() -> None:
    """From here on; there is no setting for it."""
    WStates.set_widget_from_proto = take_up_possible  # type: ignore[assignment, method-assign]
    WStates.__getitem__ = read_or_default  # type: ignore[method-assign]
