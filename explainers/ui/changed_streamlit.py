"""What we change inside Streamlit where it has no setting: all of it, and why.

What no browser says: a number where a widget has names. Streamlit hands a value to its widget as it
comes. The widget would raise, the page would end there, and for one small message a traceback would
be put together and logged. Here the widget keeps what it had.

What is forgotten. Streamlit’s browser script sends the query that it knew last, while pictures
write what is chosen into the address by themselves; and what two parts of a page say in one
moment it sends for the first of them, and the click in the other is lost. Here the address counts,
is taken up before anything else, and as much of the page runs, at once, as has something to say:
docs/telling.md.

What is lost on the way. Streamlit asks for nothing where a part of the page is gone for a moment,
and of what one picture tells twice before a run it keeps the last. It ends a run that has not heard
yet what was clicked, and draws a page that asks for it once more where a link has led to another.
Here the whole page runs, what was told is told together and heard, and the link counts.

What comes too often. Streamlit asks for a run of the page for each message that says so. Here those
that come faster than a reader sees are collected, and one run answers the newest.

What no browser asks for here. Streamlit would empty the caches of all for any visitor who says so.

What costs time in every run and says nothing new. The colours of the app are part of each run's
first message, put together anew from 300 settings. For each part of a page that can run by itself,
Streamlit copies its place on the page twice, by way of Python's general copying.
"""

import asyncio
import functools
import json
from collections.abc import Iterable
from copy import deepcopy
from typing import Any
from urllib.parse import SplitResult, urlsplit, urlunsplit
from weakref import WeakValueDictionary

from streamlit.cursor import RunningCursor
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils import script_requests
from streamlit.runtime.scriptrunner_utils.script_requests import (
    ScriptRequest,
    ScriptRequests,
    ScriptRequestType,
)
from streamlit.runtime.state.session_state import Serialized, SessionState, Value, WStates
from streamlit.util import calc_hash

from explainers.ui.controls.late_choices import Drawn, Texts, split_query, take_up
from explainers.ui.session import PICTURED
from explainers.ui.told_events import coalesce, join_events
from explainers.ui.turns import Pace

NUMBERS = {"double_value", "int_value"}
"""A field of numbers says that it is one or the other after what stands in it."""
RUNS_EACH_SECOND, RUNS_AT_ONCE = 10, 10
"""Of a session: a key that is held down asks for 30 a second."""
ASKED_FOR = {
    *("rerun_script", "stop_script", "file_urls_request", "app_heartbeat"),
    "backend_operation_request",
}
WHOLE_ADDRESS = "whole"
"""With this begins what stands behind the # of an address that `common/address.js` sends."""
BELOW = "below"
"""What a picture tells that asks for what stands below it: `picture/hero.js`."""
OF_WIDGETS = "$$"
CLICKS = {"trigger_value", "json_trigger_value", "string_trigger_value", "chat_input_value"}
_read, _take_up = WStates.__getitem__, WStates.set_widget_from_proto
_read_theme = app_session._populate_theme_msg
_ask, _answer = AppSession._handle_rerun_script_request, AppSession.handle_backmsg
_request_run = ScriptRequests._request_rerun_locked
_begin_run = ScriptRequests.on_scriptrunner_ready
_interrupt_run = ScriptRequests.on_scriptrunner_yield
_call_callbacks = SessionState._call_callbacks


def answer_browser(session: AppSession, message: BackMsg) -> None:
    """Answer what a reader's browser asks for, and nothing else."""
    if message.WhichOneof("type") in ASKED_FOR:
        _answer(session, message)


class Asked:
    """What the browser of a session asks for, in the server's one event loop."""

    def __init__(self) -> None:
        self.pace = Pace(RUNS_EACH_SECOND, RUNS_AT_ONCE)
        self.put_off: list[ClientState] = []
        self.late: dict[str, Texts] = {}
        """What a browser has chosen by itself, until a run takes it up; one for both threads."""
        self.told: tuple[int, dict[str, Texts]] = 0, {}
        """The visit of the last message, and what its browser had chosen then by itself."""
        self.widgets: dict[str, WidgetState] = {}
        """As the last message had them."""

    def list_changed(self, said: Iterable[WidgetState], held: SessionState) -> list[str]:
        """The widgets that were clicked, or that have another value than in the last message.

        Of one that was in no message before, the value that the server holds counts.
        """
        before, self.widgets = self.widgets, {one.id: one for one in said}
        return [
            name
            for name, one in self.widgets.items()
            if one.WhichOneof("value") in CLICKS
            or (one != before[name] if name in before else _is_news(one, held))
        ]

    def list_late(self, drawn: Drawn, address: SplitResult) -> tuple[dict[str, Texts], set[str]]:
        """What the browser has chosen by itself since the last message; and the names of all that
        no run has taken up.

        It names what no picture was drawn with; what it named before is on its way already, and may
        have been taken away since.
        """
        said = split_query(address.query)
        names = [name for name in address.fragment.split("&")[1:] if name in drawn.choices]
        unheard = {name: said.get(name, ()) for name in names}
        visit, before = self.told
        before = before if visit == drawn.visit else {}
        self.told = drawn.visit, unheard
        was = {name: drawn.choices[name].drawn for name in names}
        late = {name: one for name, one in unheard.items() if one != before.get(name, was[name])}
        return late, {name for name in names if unheard[name] != was[name]}


def _is_news(said: WidgetState, held: SessionState) -> bool:
    metadata = held._new_widget_state.widget_metadata.get(said.id)
    if metadata is None or said.id not in held:
        return False
    states = WStates({said.id: Serialized(said)}, {said.id: metadata})
    return _is_possible(states, said.id) and bool(_read(states, said.id) != held[said.id])


_of_sessions: WeakValueDictionary[str, Asked] = WeakValueDictionary()


def complete(session: AppSession, asked: Asked, state: ClientState) -> list[str]:
    """Have it ask with the address as it is; the parts of the page that have something to say.

    "" is the whole page.
    """
    kept, said = session.session_state, state.widget_states.widgets
    for one in said:
        if one.json_trigger_value:
            one.json_trigger_value = join_events(one.json_trigger_value)
    changed, following = asked.list_changed(said, kept), set[str]()
    drawn = _find_drawn(kept)
    if address := _take_address(state):
        place = address.path.rpartition("/")[2]
        if calc_hash(place) == state.page_script_hash:  # so Streamlit names pages; else one comes
            state.query_string = address.query
        if drawn and drawn.place == place:
            late, names = asked.list_late(drawn, address)
            asked.late.update(late)
            following = drawn.list_following(names)
    asking = {one.id for one in said if _asks_below(one)}
    known = kept._new_widget_state.widget_metadata
    parts = {known[name].fragment_id or "" for name in changed if name in known}
    if asking.issuperset(changed) and asking and following:
        parts = following
    elif not all(has_parts(session, one) for one in parts):  # an interrupted run has dropped one
        return [""]
    else:
        parts |= {state.fragment_id} | following
    return list_outermost(session, {one for one in parts if has_parts(session, one)})


def _asks_below(said: WidgetState) -> bool:
    """Does a picture ask for nothing but what stands below it? See `picture/hero.js`."""
    try:
        events = json.loads(said.json_trigger_value or "[]")
        return bool(events) and all(one["event"] == BELOW for one in events)
    except (ValueError, TypeError, KeyError, RecursionError):  # no browser says so
        return False


def _find_drawn(state: SessionState) -> Drawn | None:
    try:
        drawn: Drawn = state[PICTURED]
    except KeyError:
        return None
    return drawn


def _take_address(state: ClientState) -> SplitResult | None:
    """What `common/address.js` has added to a message, which Streamlit itself has without it."""
    try:
        address = urlsplit(state.context_info.url)
    except ValueError:  # no browser says so
        return None
    if address.fragment.split("&")[0] != WHOLE_ADDRESS:
        return None
    state.context_info.url = urlunsplit((*address[:3], "", ""))
    return address


def list_outermost(session: AppSession, parts: set[str]) -> list[str]:
    """Those that are in no other of these parts of the page; "", the whole page, has all in it."""
    if "" in parts:
        return [""]
    is_inner = session._fragment_storage.has_ancestor_in
    return [one for one in parts if not is_inner(one, parts - {one})]


def has_parts(session: AppSession, parts: str) -> bool:
    """Are there these parts of the page, with a space between them?"""
    return all(map(session._fragment_storage.contains, parts.split()))


def make_request(fragment_id: str | None = None, **told: Any) -> RerunData:
    """One run of all these parts, in which a click counts once.

    A message has room for one part: `ask_at_a_pace` writes all there, with a space between them.
    """
    return RerunData(fragment_id_queue=(fragment_id or "").split(), **told)


def ask_at_a_pace(session: AppSession, state: ClientState) -> None:
    """Ask for a run at once, or a little later together with all that was asked meanwhile.

    Streamlit itself makes one run of them: the newest value of a widget counts, and each click.
    """
    asked: Asked = vars(session).setdefault("asked", Asked())
    _of_sessions[session.id] = asked
    parts = complete(session, asked, state)
    if not parts:
        return
    state.fragment_id = " ".join(parts)
    asked.put_off.append(state)
    if len(asked.put_off) > 1:
        return
    if wait := asked.pace.count():
        asyncio.get_running_loop().call_later(wait, _ask_for_all, session, asked)
    else:
        _ask_for_all(session, asked)


def _ask_for_all(session: AppSession, asked: Asked) -> None:
    put_off, asked.put_off = asked.put_off, []
    for state in put_off:
        if not has_parts(session, state.fragment_id):  # a run has dropped one meanwhile
            state.fragment_id = ""
        _ask(session, state)


def begin_run(requests: ScriptRequests) -> ScriptRequest:
    """What the script's thread is to do next."""
    return _note_unheard(requests, _begin_run(requests))


def interrupt_run(requests: ScriptRequests) -> ScriptRequest | None:
    """What ends the run that is under way; nothing before it has heard what was clicked.

    Streamlit itself ends one that has hardly begun, or is amid a callback: the click would be lost.
    """
    if vars(requests).get("is_unheard"):
        return None
    request = _interrupt_run(requests)
    return request and _note_unheard(requests, request)


def request_run(requests: ScriptRequests, asked: RerunData) -> bool:
    """Note what is to run next; a page that is left by then is not drawn once more.

    Streamlit would draw it in place of the one that the reader has gone to.
    """
    if asked.widget_states is None and requests._state == ScriptRequestType.RERUN:
        context = get_script_run_ctx()  # no browser asks so, but the page itself, in its own thread
        here, next_page = (
            context and context.page_script_hash,
            requests._rerun_data.page_script_hash,
        )
        if asked.page_script_hash == here != next_page:
            return True
    return _request_run(requests, asked)


def _note_unheard(requests: ScriptRequests, request: ScriptRequest) -> ScriptRequest:
    is_run = request.type == ScriptRequestType.RERUN
    vars(requests)["is_unheard"] = is_run and request.rerun_data.widget_states is not None
    return request


def call_callbacks(state: SessionState, **replayed: Any) -> None:
    """Take up what stands in the address, and then what was clicked."""
    context = get_script_run_ctx()
    asked = _of_sessions.get(context.session_id) if context else None
    late = asked.late if asked else {}
    try:
        take_up({name: late.pop(name) for name in list(late)})
        _call_callbacks(state, **replayed)
    finally:
        if context and context.script_requests:
            vars(context.script_requests)["is_unheard"] = False


def take_up_possible(states: WStates, widget_state: WidgetState) -> None:
    """Take up what a message says of a widget that was drawn before, if the widget can be that.

    Other names than a widget's are those that the session keeps things by.
    """
    if not widget_state.id.startswith(OF_WIDGETS):
        return
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
    AppSession.handle_backmsg = answer_browser  # type: ignore[assignment, method-assign]
    AppSession._handle_rerun_script_request = ask_at_a_pace  # type: ignore[assignment, method-assign]
    AppSession.has_fragment = has_parts  # type: ignore[assignment, method-assign]
    app_session.RerunData = make_request  # type: ignore[assignment, misc]
    ScriptRequests._request_rerun_locked = request_run  # type: ignore[assignment, method-assign]
    ScriptRequests.on_scriptrunner_ready = begin_run  # type: ignore[assignment, method-assign]
    ScriptRequests.on_scriptrunner_yield = interrupt_run  # type: ignore[assignment, method-assign]
    SessionState._call_callbacks = call_callbacks  # type: ignore[assignment, method-assign]
    script_requests._coalesce_widget_states = coalesce  # type: ignore[assignment]
    app_session._populate_theme_msg = copy_theme  # type: ignore[assignment]
    RunningCursor.__deepcopy__ = copy_place  # type: ignore[attr-defined]
    # Until `contents.py` has run, Streamlit would take the folder `pages` for its older kind of
    # app: show the first visitor names of files, and run a linked page alone, without contents.
    PagesManager.uses_pages_directory = False
