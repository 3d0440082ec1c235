"""Sessions of the app as a browser has them, which draw nothing: Streamlit's own messages."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

import websockets
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from explainers.ui.changed_streamlit import BELOW, WHOLE_ADDRESS

PROTOCOLS = [websockets.Subprotocol("streamlit")]
STATES: dict[str, Callable[[WidgetState, Any], None]] = {
    "slider": lambda state, value: state.double_array_value.data.append(value),
    "selectbox": lambda state, value: setattr(state, "string_value", value),
    "bidi_component": lambda state, value: setattr(state, "json_value", value),
}
"""How the browser tells what was chosen, by the kind of widget."""
ASKING = json.dumps([{"event": BELOW, "value": True}])
"""What a picture tells that asks for what stands below it."""
PICTURE = 'class="hero"'
"""What a hero is known by."""


class Widget(NamedTuple):
    """Where a choice goes to: a widget's number, its kind, and the fragment that draws it."""

    id: str
    kind: str
    fragment: str


class Run(NamedTuple):
    """What came of a run."""

    seconds: float
    """From the question to the last message."""
    picture: float
    """From the question to the page's picture; to the last message if none was sent."""
    sent: int
    """Bytes from the server."""


class RunError(Exception):
    """A run ended in an error, or with one on the page."""


class Session:
    """One visitor."""

    def __init__(self, socket: websockets.ClientConnection) -> None:
        self.socket = socket
        self.pages: dict[str, str] = {}
        self.page = ""
        self.query = ""
        self.widgets: dict[str, Widget] = {}
        self.chosen: dict[str, WidgetState] = {}
        self.kept: dict[str, bool] = {}
        self.fragments: set[str] = set()
        """Parts of the page that may run by themselves."""

    async def open(self, page: str, query: str = "", is_navigation: bool = False) -> Run:
        """Go to a page with this query, the first time or from another one."""
        if page != self.page:
            self.widgets, self.chosen = {}, {}
        self.page, self.query = page, query
        return await self._run(is_navigation=is_navigation)

    async def rest(self) -> Run:
        """Have the page drawn again, where it is: all of it, if there was only a part."""
        return await self._run()

    async def choose(self, key: str, value: object) -> Run:
        """Give a widget another value, by the name that the code knows it by."""
        widget = self.widgets[key]
        state = WidgetState(id=widget.id)
        STATES[widget.kind](state, value)
        self.chosen[widget.id] = state
        return await self._run(widget.fragment)

    async def look_below(self, key: str, choices: Mapping[str, str]) -> Run:
        """Choose in a picture, and have a look at what shows the choice below it."""
        widget, said = self.widgets[key], {**dict(parse_qsl(self.query)), **choices}
        asking = WidgetState(id=_make_trigger_id(widget.id, "events"), json_trigger_value=ASKING)
        address = (
            f"http://localhost/{self.page}?{urlencode(said)}#{'&'.join([WHOLE_ADDRESS, *choices])}"
        )
        return await self._run(widget.fragment, asking=[asking], address=address)

    async def _run(
        self,
        fragment: str = "",
        is_navigation: bool = False,
        asking: Sequence[WidgetState] = (),
        address: str = "",
    ) -> Run:
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string, asked.fragment_id = self.query, fragment
        asked.is_history_navigation = is_navigation
        asked.widget_states.widgets.extend([*self.chosen.values(), *asking])
        asked.context_info.url = address
        asked.cached_message_hashes.extend(self.kept)
        if self.page in self.pages:
            asked.page_script_hash = self.pages[self.page]
        else:
            asked.page_name = self.page
        return await self.say(message.SerializeToString())

    async def say(self, message: bytes) -> Run:
        """Send what asks for a run, and wait for its end."""
        begun = time.perf_counter()
        await self.socket.send(message)
        sent, picture = 0, None
        while True:
            told = await self.socket.recv(decode=False)
            sent, seconds = sent + len(told), time.perf_counter() - begun
            heard = ForwardMsg.FromString(told)
            if picture is None and self._is_picture(heard):
                picture = seconds
            if self._has_ended(heard):
                return Run(seconds, seconds if picture is None else picture, sent)

    def _is_picture(self, message: ForwardMsg) -> bool:
        """Is it a hero, sent now or kept from before?"""
        element = message.delta.new_element.bidi_component
        return self.kept.get(message.ref_hash, PICTURE in element.html_content)

    def _has_ended(self, message: ForwardMsg) -> bool:
        """Take what a browser keeps of a message; was it the last one of the run?"""
        if message.metadata.cacheable:
            self.kept[message.hash] = self._is_picture(message)
        kind = message.WhichOneof("type")
        if kind == "new_session" and not message.metadata.run.fragment_ids:
            self.fragments = set()
        elif kind == "navigation":
            self.pages = {p.url_pathname: p.page_script_hash for p in message.navigation.app_pages}
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "delta":
            self._keep_widget(message.delta)
        elif kind == "script_finished":
            if message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                raise RunError("the script cannot be compiled")
            return message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
        return False

    def _keep_widget(self, delta: Delta) -> None:
        self.fragments.add(delta.fragment_id)
        kind = delta.new_element.WhichOneof("type") or ""
        if kind == "exception":
            raise RunError(delta.new_element.exception.message)
        if kind in STATES:
            element = getattr(delta.new_element, kind)
            key = element.id.split("-", 2)[-1]
            name = getattr(element, "label", key) if key == "None" else key
            self.widgets[name] = Widget(element.id, kind, delta.fragment_id)


@asynccontextmanager
async def connect(address: str) -> AsyncIterator[Session]:
    """A session at this address, until the end of the block."""
    stream = f"{address.replace('http', 'ws', 1)}/_stcore/stream"
    async with websockets.connect(
        stream,
        max_size=None,
        max_queue=None,  # else what is not read yet keeps the answer to a ping waiting
        subprotocols=PROTOCOLS,
    ) as socket:
        yield Session(socket)
