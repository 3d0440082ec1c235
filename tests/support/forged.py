"""A session of the app that is no browser's: it says what it likes, and reads the answer."""

import re
from typing import Any, NamedTuple

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

PROTOCOLS = "streamlit", "PLACEHOLDER_AUTH_TOKEN"
ENDED = ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY


class Answer(NamedTuple):
    elements: list[Any]

    def of_kind(self, kind: str) -> list[Any]:
        return [getattr(e, kind) for e in self.elements if e.WhichOneof("type") == kind]

    @property
    def pictures(self) -> list[str]:
        """What the components are sent, without the count of what was heard."""
        sent = [one.bytes.decode() for one in self.of_kind("bidi_component")]
        return [re.sub(r'"echo":\d+', "", one) for one in sent]

    @property
    def widgets(self) -> dict[str, str]:
        """Ids of everything that has a value, and the kind of element that it is."""
        kinds = dict.fromkeys(e.WhichOneof("type") for e in self.elements)
        return {
            one.id: kind for kind in kinds for one in self.of_kind(kind) if getattr(one, "id", "")
        }


class Forger:
    """An open session: `run` asks for a page with values for its widgets.

    Who names a `session` comes back to it, as a browser does.
    """

    def __init__(self, address: str, session: str = "", **options: Any) -> None:
        stream = f"{address.replace('http', 'ws')}/_stcore/stream"
        named = [websockets.Subprotocol(one) for one in (*PROTOCOLS, session) if one]
        self.socket = connect(stream, max_size=None, subprotocols=named, legacy=True, **options)
        assert self.socket.response
        self.headers, self.session = self.socket.response.headers, ""

    def run(self, page: str, query: str = "", values: dict[str, dict[str, Any]] | None = None):
        """The answer; `values` has for a widget's id the field of the message, and its value."""
        message = BackMsg()
        message.rerun_script.query_string = query
        message.rerun_script.page_name = page
        for name, value in (values or {}).items():
            state = message.rerun_script.widget_states.widgets.add(id=name)
            [(field, content)] = value.items()
            if field.endswith("array_value"):
                getattr(state, field).data.extend(content)
            else:
                setattr(state, field, content)
        return self.send(message.SerializeToString())

    def send(self, message: bytes | str) -> Answer:
        self.socket.send(message)
        return self.read()

    def read(self) -> Answer:
        elements = []
        while True:
            told = ForwardMsg.FromString(self.socket.recv(timeout=60))
            if told.WhichOneof("type") == "new_session":
                self.session = told.new_session.initialize.session_id
            if (
                told.WhichOneof("type") == "delta"
                and told.delta.WhichOneof("type") == "new_element"
            ):
                elements.append(told.delta.new_element)
            if told.WhichOneof("type") == "script_finished" and told.script_finished in ENDED:
                return Answer(elements)

    def close(self) -> None:
        self.socket.close()
