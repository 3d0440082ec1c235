"""What we change inside Streamlit does what Streamlit itself would, for less."""

import functools
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

from streamlit.cursor import RunningCursor, SparseList
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.session_state import WStates

from explainers.ui import changed_streamlit

SECTIONS = "theme", "theme.light", "theme.dark", "theme.sidebar"


def write(place):
    """All that a place on the page is."""
    return vars(place) | {"_transient_elements": [*place.transient_elements.items()]}


def test_a_copied_place_is_the_same_and_moves_by_itself(monkeypatch):
    elements = SparseList[Element]()
    elements[1] = Element()
    places = [RunningCursor(0, (2, 3)), RunningCursor(1, (), 1, elements)]
    places[0].lock_element()
    alike = [write(deepcopy(place)) for place in places]
    copy = functools.partialmethod(changed_streamlit.copy_place)
    monkeypatch.setattr(RunningCursor, "__deepcopy__", copy, raising=False)
    copied = [deepcopy(place) for place in places]
    assert [write(place) for place in copied] == alike == [write(place) for place in places]
    copied[0].lock_element()
    assert (copied[0].index, places[0].index) == (2, 1)
    assert copied[1].transient_elements is not elements


def test_the_colours_are_those_of_the_settings():
    for section in SECTIONS:
        for _again in range(2):
            expected, told = CustomThemeConfig(), CustomThemeConfig()
            changed_streamlit._read_theme(expected, section)
            changed_streamlit.copy_theme(told, section)
            assert told == expected
            assert bool(told.primary_color) == (section in ("theme.light", "theme.dark"))


def test_what_is_asked_too_often_is_asked_together_and_nothing_is_lost(monkeypatch):
    asked, at_once, messages = [], changed_streamlit.RUNS_AT_ONCE, 400
    monkeypatch.setattr(changed_streamlit, "_ask", lambda _session, one: asked.append(one))
    states = [ClientState(query_string=f"word={n}") for n in range(messages)]
    later = []
    loop = SimpleNamespace(call_later=lambda _seconds, *call: later.append(call))
    monkeypatch.setattr(changed_streamlit.asyncio, "get_running_loop", lambda: loop)
    session: Any = SimpleNamespace(id="one", session_state={})
    for state in states:
        changed_streamlit.ask_at_a_pace(session, state)
    assert asked == states[:at_once]
    [(ask, *arguments)] = later
    ask(*arguments)
    assert asked == states


def test_only_what_a_reader_asks_for_is_answered(monkeypatch):
    answered, wanted = [], [BackMsg(app_heartbeat=True), BackMsg(stop_script=True)]
    monkeypatch.setattr(changed_streamlit, "_answer", lambda _session, one: answered.append(one))
    others = BackMsg(clear_cache=True), BackMsg(set_run_on_save=True), BackMsg(load_git_info=True)
    session: Any = None
    for message in (*wanted, *others, BackMsg(debug_shutdown_runtime=True)):
        changed_streamlit.answer_browser(session, message)
    assert answered == wanted


def test_what_is_no_widget_is_not_taken_up():
    """The session keeps things by names of its own."""
    states = WStates()
    for name in ("visit", "$$ID-1-None", "", "tour"):
        changed_streamlit.take_up_possible(states, WidgetState(id=name, string_value="x"))
    assert list(states.states) == ["$$ID-1-None"]
