"""What pictures tell: all of it is heard, where Streamlit hands over what it heard last."""

import json
from contextlib import suppress
from itertools import chain
from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils import script_requests

MOST_JOINED = 100_000
"""Characters of what a picture has told and no run has heard: far more than a reader can say."""
_coalesce = script_requests._coalesce_widget_states


def coalesce(older: WidgetStates | None, newer: WidgetStates | None) -> WidgetStates | None:
    """What two messages say that one run answers; of a picture that spoke in both, all."""
    states = _coalesce(older, newer)
    told = {one.id: one.json_trigger_value for one in older.widgets} if older else {}
    for one in states.widgets if states else ():
        if one.json_trigger_value and told.get(one.id, "") not in ("", one.json_trigger_value):
            one.json_trigger_value = join_events(told[one.id], one.json_trigger_value)
    return states


def join_events(*told: str) -> str:
    """Each event of a picture once: of what it says in words, the last word of each counts.

    Streamlit itself hands over the last event of a name.
    """
    events: dict[str, Any] = {}
    try:
        for one in chain.from_iterable(map(json.loads, told)):
            name, value = one["event"], one.get("value")
            before = events.get(name)
            if isinstance(before, dict) and isinstance(value, dict):
                value = {**before, **value}
            events[name] = value
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):  # no browser says so
        return told[-1]
    joined = json.dumps([{"event": name, "value": value} for name, value in events.items()])
    return joined if len(joined) <= MOST_JOINED else told[-1]


def read_event(key: str, event: str) -> Any:
    """What a component has told, in a callback; None if it has not.

    Streamlit finds no component of a page that is left, and hands over nothing.
    """
    context = get_script_run_ctx()
    locked = context.session_state if context else None
    said = locked._state._current_interaction_widget_states if locked else None
    for one in said.widgets if said else ():
        if one.id.endswith(f"-{key}__events"):
            with suppress(ValueError, TypeError, KeyError, RecursionError):  # no browser says so
                return {e["event"]: e["value"] for e in json.loads(one.json_trigger_value)}[event]
    return None
