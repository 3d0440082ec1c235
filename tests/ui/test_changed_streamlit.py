"""What we change inside Streamlit does what Streamlit itself would, for less."""

import functools
import json
import re
from collections.abc import Iterable
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.cursor import RunningCursor, SparseList
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.scriptrunner import RerunData
from streamlit.runtime.scriptrunner_utils import script_requests
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import SessionState, WStates
from streamlit.util import calc_hash

from explainers.ui import changed_streamlit
from explainers.ui.browser_files import FOLDER
from explainers.ui.controls.late_choices import Drawn
from explainers.ui.session import PICTURED

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
    asked: list[str] = []
    at_once, words = changed_streamlit.RUNS_AT_ONCE, [f"word={n}" for n in range(400)]
    monkeypatch.setattr(
        changed_streamlit, "_ask", lambda _session, one: asked.append(one.query_string)
    )
    later = []
    loop = SimpleNamespace(call_later=lambda _seconds, *call: later.append(call))
    monkeypatch.setattr(changed_streamlit.asyncio, "get_running_loop", lambda: loop)
    session: Any = SimpleNamespace(
        id="one", session_state=SessionState(), _fragment_storage=MemoryFragmentStorage()
    )
    for word in words:
        changed_streamlit.ask_at_a_pace(session, ClientState(query_string=word))
    assert asked == words[:at_once]
    [(ask, *arguments)] = later
    ask(*arguments)
    assert asked == words


WITHIN = {"lesson": None, "card": "lesson", "question": "lesson", "sidebar": None}
"""Parts of a page, each with the one that it is in."""


def a_session(**widgets: str) -> Any:
    """A page in which each of these widgets says `old`, by the part in which it is."""
    storage, state = MemoryFragmentStorage(), SessionState()
    for name, outer in WITHIN.items():
        storage.register(name, lambda: None, parent_fragment_id=outer)
    for name, part in widgets.items():
        read = functools.partial(lambda usual, said: usual if said is None else said, "old")
        state._set_widget_metadata(
            WidgetMetadata(name, read, str, "string_value", fragment_id=part)
        )
        state._new_widget_state.set_from_value(name, "old")
    return SimpleNamespace(
        session_state=state, _fragment_storage=storage, has_fragment=storage.contains
    )


def test_all_parts_of_a_page_that_speak_at_once_are_heard():
    widgets = {"pick": "card", "answer": "question", "way": "", "gone": "left"}
    asked, session = changed_streamlit.Asked(), a_session(**widgets)
    told = dict.fromkeys(widgets, "old")
    for changed, sent_for, runs in (
        ({"pick": "new"}, "card", {"card"}),  # alone
        ({"answer": "new"}, "lesson", {"lesson"}),  # one within the other
        ({"answer": "old", "pick": "old"}, "question", {"question", "card"}),  # beside each other
        ({"answer": "new"}, "card", {"question", "card"}),
        ({}, "card", {"card"}),  # nothing else has changed since
        ({"way": "new"}, "card", {""}),  # outside of all parts: the whole page
        ({"pick": "new"}, "", {""}),
        ({}, "left", set()),  # a part that there is no more
        ({"gone": "new"}, "left", {""}),  # a click in one that an interrupted run has dropped
    ):
        told |= changed
        state = ClientState(fragment_id=sent_for)
        for name, value in told.items():
            state.widget_states.widgets.append(WidgetState(id=name, string_value=value))
        assert {*changed_streamlit.complete(session, asked, state)} == runs, changed


def test_one_run_has_all_parts_that_are_asked_for(monkeypatch):
    """One for each would count a click twice, or leave a part that it is for without it."""
    asked: list[RerunData] = []
    session: Any = SimpleNamespace(
        **vars(a_session(pick="card", answer="question")),
        id="one",
        _state=None,
        _client_state=ClientState(),
        _scriptrunner=None,
        _create_scriptrunner=asked.append,
    )
    session.request_rerun = functools.partial(AppSession.request_rerun, session)
    session.has_fragment = functools.partial(changed_streamlit.has_parts, session)
    monkeypatch.setattr(app_session, "RerunData", changed_streamlit.make_request)
    state = ClientState(fragment_id="question")
    for name in ("answer", "pick"):
        state.widget_states.widgets.append(WidgetState(id=name, trigger_value=True))
    changed_streamlit.ask_at_a_pace(session, state)
    [run] = asked
    requests = ScriptRequests()
    requests.request_rerun(run)
    run = requests.on_scriptrunner_ready().rerun_data
    assert {*run.fragment_id_queue} == {"card", "question"}
    assert run.widget_states == state.widget_states


@pytest.mark.parametrize("waits", [False, True])
def test_where_a_run_has_dropped_a_part_meanwhile_the_whole_page_runs(monkeypatch, waits):
    """Streamlit would drop the message, and the clicks in it."""
    asked: list[str] = []
    monkeypatch.setattr(
        changed_streamlit, "_ask", lambda _session, one: asked.append(one.fragment_id)
    )
    session: Any = SimpleNamespace(**vars(a_session(pick="card", answer="question")), id="one")
    state = ClientState(fragment_id="question")
    for name in ("answer", "pick"):
        state.widget_states.widgets.append(WidgetState(id=name, trigger_value=True))
    if waits:
        vars(session)["asked"] = changed_streamlit.Asked()
        session.asked.put_off.append(ClientState())
        changed_streamlit.ask_at_a_pace(session, state)
        session._fragment_storage.delete("card")
        changed_streamlit._ask_for_all(session, session.asked)
        asked.pop(0)
    else:
        session._fragment_storage.delete("card")
        changed_streamlit.ask_at_a_pace(session, state)
    assert asked == [""]


def events(**told: Any) -> str:
    """As a picture tells them."""
    return json.dumps([{"event": name, "value": value} for name, value in told.items()])


def test_what_a_picture_tells_twice_before_a_run_is_told_together(monkeypatch):
    """Streamlit keeps what it told last, of each picture and of each event."""
    change = {"choices": {"word": 6, "asked": 0}}, {"below": True, "choices": {"asked": 4}}
    both = events(choices={"word": 6, "asked": 4}, below=True)
    monkeypatch.setattr(script_requests, "_coalesce_widget_states", changed_streamlit.coalesce)
    requests = ScriptRequests()
    for told in change:
        one = WidgetState(id="picture", json_trigger_value=events(**told))
        requests.request_rerun(RerunData(widget_states=WidgetStates(widgets=[one])))
    states = requests.on_scriptrunner_ready().rerun_data.widget_states
    assert states
    assert states.widgets[0].json_trigger_value == both
    at_once = [*json.loads(events(**change[0])), *json.loads(events(**change[1]))]
    state = ClientState(fragment_id="card")
    said = state.widget_states.widgets.add(id="picture", json_trigger_value=json.dumps(at_once))
    changed_streamlit.complete(a_session(), changed_streamlit.Asked(), state)
    assert said.json_trigger_value == both
    for odd in ("[" * 9_999, "7", "[7]", '[{"event": []}]', events(choices="x" * 200_000)):
        assert changed_streamlit.join_events(both, odd) == odd


def test_no_run_is_interrupted_before_it_has_heard_what_was_clicked(monkeypatch):
    """Streamlit would end it at its first look into the session, and the click would be lost."""
    for name in ("ready", "yield"):
        ours = {"ready": changed_streamlit.begin_run, "yield": changed_streamlit.interrupt_run}[
            name
        ]
        monkeypatch.setattr(ScriptRequests, f"on_scriptrunner_{name}", ours)
    requests, seen = ScriptRequests(), list[object]()
    context = SimpleNamespace(session_id="one", script_requests=requests)
    monkeypatch.setattr(changed_streamlit, "get_script_run_ctx", lambda: context)
    monkeypatch.setattr(changed_streamlit, "take_up", lambda late: None)

    def look(_state: SessionState) -> None:
        requests.request_rerun(RerunData(widget_states=WidgetStates()))
        seen.append(requests.on_scriptrunner_yield())

    monkeypatch.setattr(changed_streamlit, "_call_callbacks", look)
    requests.request_rerun(RerunData(widget_states=WidgetStates()))
    assert requests.on_scriptrunner_ready().rerun_data
    look(SessionState())  # what is asked for before the callbacks
    changed_streamlit.call_callbacks(SessionState())
    assert seen == [None, None]
    assert requests.on_scriptrunner_yield(), "and afterwards it is answered"
    assert requests.on_scriptrunner_yield() is None
    changed_streamlit.call_callbacks(SessionState())
    requests.request_stop()
    assert requests.on_scriptrunner_yield()

    requests = ScriptRequests()
    requests.request_rerun(RerunData())  # by the page itself: nobody has clicked
    requests.on_scriptrunner_ready()
    requests.request_stop()
    assert requests.on_scriptrunner_yield()


def test_a_page_that_is_left_is_not_drawn_once_more(monkeypatch):
    """What it asks for itself would go before the link that was followed meanwhile."""
    monkeypatch.setattr(ScriptRequests, "_request_rerun_locked", changed_streamlit.request_run)
    monkeypatch.setattr(
        changed_streamlit, "get_script_run_ctx", lambda: SimpleNamespace(page_script_hash="here")
    )
    for followed, asked, runs in (
        ("there", "here", "there"),
        ("here", "here", "here"),
        ("here", "there", "there"),  # a button leads to another page
        ("there", "elsewhere", "elsewhere"),
    ):
        requests = ScriptRequests()
        requests.request_rerun(RerunData(page_script_hash=followed, widget_states=WidgetStates()))
        requests.request_rerun(RerunData(page_script_hash=asked))
        assert requests.on_scriptrunner_ready().rerun_data.page_script_hash == runs

    monkeypatch.setattr(changed_streamlit, "get_script_run_ctx", pytest.fail)
    for _again in range(2):  # a browser asks: no script's thread, and Streamlit would log that
        requests.request_rerun(RerunData(widget_states=WidgetStates()))


def test_a_widget_is_heard_of_which_no_message_has_told_before():
    for value, runs in (("old", {"card"}), ("new", {"card", "question"})):
        asked, session = changed_streamlit.Asked(), a_session(answer="question")
        state = ClientState(fragment_id="card")
        state.widget_states.widgets.append(WidgetState(id="answer", string_value=value))
        assert {*changed_streamlit.complete(session, asked, state)} == runs


def test_what_a_browser_has_chosen_by_itself_is_taken_up_once():
    asked, session = changed_streamlit.Asked(), a_session()
    word: Any = SimpleNamespace(drawn=("2",))
    shown: dict[str, tuple[str | None, frozenset[str]]] = {
        "words": ("card", frozenset({"word"})),
        "rules": ("question", frozenset({"rule"})),
    }
    session.session_state[PICTURED] = Drawn(1, "masks", {"word": word}, shown)
    both, alone = {"sidebar", "card"}, {"sidebar"}
    for address, late, runs, query in (
        ("masks?word=5#whole&word", {"word": ("5",)}, both, "word=5"),
        ("masks?word=5#whole&word", {}, both, "word=5"),  # it is on its way, or was taken away
        ("masks#whole&word", {"word": ()}, both, ""),  # the usual one again
        ("masks?word=2#whole&word", {"word": ("2",)}, alone, "word=2"),  # as it is drawn
        ("masks?rule=full#whole&rule", {}, alone, "rule=full"),  # no picture offers it
        ("masks#whole", {}, alone, ""),  # written by the server, and not arrived
        ("many_heads?word=5#whole&word", {}, alone, "before"),  # of the page that comes
        ("masks?word=7", {}, alone, "before"),  # as Streamlit's script itself sends it
    ):
        asked.late = {}
        state = ClientState(fragment_id="sidebar", page_script_hash=calc_hash("masks"))
        state.query_string, state.context_info.url = "before", f"http://app/{address}"
        parts = changed_streamlit.complete(session, asked, state)
        found = asked.late, {*parts}, state.query_string
        assert found == (late, runs, query), address
        assert "#" not in state.context_info.url
    asked.late = {}
    state = ClientState(fragment_id="lesson", page_script_hash="of masks")
    state.context_info.url = "http://app/masks?word=7#whole&word"
    told = [WidgetState(id="picture", json_trigger_value='[{"event": "below", "value": true}]')]
    state.widget_states.widgets.extend(told)
    assert changed_streamlit.complete(session, asked, state) == ["card"], "only what shows it"
    asked.late, told[0].json_trigger_value = {}, "[" * 9_999
    odd = ClientState(fragment_id="sidebar", query_string="before")
    odd.widget_states.widgets.extend(told)
    odd.context_info.url = "http://[masks?word=7#whole&word"
    changed_streamlit.complete(session, asked, odd)
    assert (asked.late, odd.query_string) == ({}, "before")


def test_a_part_that_a_run_adds_while_parts_are_listed_disturbs_nobody():
    """A page runs in one thread, and messages come in another."""
    shown: dict[str, tuple[str | None, frozenset[str]]] = {"words": ("card", frozenset({"word"}))}

    class Adding(frozenset[str]):
        def isdisjoint(self, other: Iterable[object]) -> bool:
            shown["rules"] = "question", frozenset({"rule"})
            return super().isdisjoint(other)

    shown["first"] = "lesson", Adding({"word"})
    shown["last"] = "sidebar", frozenset({"word"})
    assert Drawn(1, "masks", {}, shown).list_following({"word"}) == {"card", "lesson", "sidebar"}


def test_the_browser_adds_the_address_where_a_message_has_it():
    """`common/address.js` appends bytes to what Streamlit's script sends, and knows its fields."""
    script = (FOLDER / "common" / "address.js").read_text(encoding="utf-8")
    tags = [int(tag, 16) for tag in re.findall(r"(?:RERUN|CONTEXT|URL_FIELD) = 0x(\w\w)", script)]
    sent = BackMsg(rerun_script=ClientState(query_string="word=2", fragment_id="card"))
    sent.rerun_script.context_info.url = "http://app/masks"
    sent.rerun_script.context_info.timezone = "UTC"
    added = (url := "http://app/masks?word=5#whole").encode()
    for tag in reversed(tags):
        added = bytes([tag, len(added)]) + added
    assert sent.SerializeToString()[0] == tags[0], "by which the browser finds what asks for a run"
    told = BackMsg.FromString(sent.SerializeToString() + added)
    sent.rerun_script.context_info.url = url
    assert told == sent, "and nothing else is changed"


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
