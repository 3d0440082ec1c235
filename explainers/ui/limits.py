"""What one visitor may take of the server, so that there is some for the others: refused in words.

A visitor is an address. Behind a proxy all visitors have the proxy's, until `FORWARDED_ALLOW_IPS`,
which uvicorn reads, names the proxies that are believed (docs/hosting.md).
"""

import asyncio
import os
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, NamedTuple

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket
from streamlit import runtime

from explainers.messages import N_
from explainers.translations import ENGLISH, translate
from explainers.ui.text.language import list_languages
from explainers.ui.turns import Pace

LONGEST_LINK = 8192
"""Bytes of a path and its query; every link of the app's own is shorter than a quarter of it."""
LINK_TOO_LONG, AGAIN = 414, "10"
"""A number of HTTP's; and seconds after which a browser asks again."""
SESSIONS = "ATTENTION_SESSIONS"
"""The environment's name for how many windows one process serves at a time."""
FILES_OF_APP, FILES_OF_VISIT = 500, 6
"""Open at a time; a visit of a lecture has two connections."""
MESSAGES_EACH_SECOND, MESSAGES_AT_ONCE = 100, 200
"""Of one websocket: a browser that tells all that a finger does sends 60."""
BYTES_OF_MESSAGE = 2**16
"""A larger message counts as several."""
TOO_LONG = N_("This link is too long for any picture: follow a shorter one.")
MANY_HERE = N_("Too many windows of this app are open in your network. This page tries again.")
MANY = N_("The server has no room for another visitor. This page tries again by itself.")
MANY_FILES = N_("The server keeps too many files. Remove one, or try again later.")


class Most(NamedTuple):
    """What is open or kept at a time."""

    sessions: int = 1000
    sessions_of_address: int = 600
    """A lecture hall has one address."""
    files: int = 200
    """Of at most `server.maxUploadSize` each."""
    files_of_session: int = 8


def read_most() -> Most:
    """As many sessions as the environment says."""
    sessions = int(os.environ.get(SESSIONS, Most().sessions))
    return Most(sessions, min(sessions, Most().sessions_of_address))


def open_enough_files() -> None:
    """Let the process open as many files as its sessions need and the system allows.

    A session takes its socket and, as long as it is kept, three files for an event loop of its own.
    A shell gives 1,024, which is 250 sessions: the phones of one lecture hall.
    """
    with suppress(ImportError, ValueError, OSError):
        import resource  # only where there are such limits

        allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        needed = FILES_OF_APP + FILES_OF_VISIT * read_most().sessions
        if most != resource.RLIM_INFINITY:
            needed = min(needed, most)
        if allowed != resource.RLIM_INFINITY and allowed < needed:
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed, most))


def find_address(visitor: HTTPConnection) -> str:
    """Whose limits these are. In IPv6 a household has a network of its own, not one address."""
    host = visitor.client.host if visitor.client else ""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped or ip_network((int(address), 64), strict=False))
    return host


class Limits:
    """Refuses what is too much, before Streamlit hears of it."""

    def __init__(self, app: ASGIApp, most: Most | None = None) -> None:
        self.app, self.most = app, most or read_most()
        self.open: dict[str, Counter[str]] = {"websocket": Counter(), "stream": Counter()}
        """By kind and address, those that are open and no others."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does, or refuse."""
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        visitor = HTTPConnection(scope)
        refusal = self._refuse(visitor)
        if refusal and scope["type"] == "websocket":
            return await WebSocket(scope, receive, send).send_denial_response(refusal)
        if refusal:
            return await refusal(scope, receive, send)
        kind = _find_kind(visitor)
        if kind not in self.open:
            return await self.app(scope, receive, send)
        heard = read_at_a_pace(receive) if kind == "websocket" else receive
        return await self._count(
            self.open[kind], find_address(visitor), lambda: self.app(scope, heard, send)
        )

    def _refuse(self, visitor: HTTPConnection) -> Response | None:
        scope, kind = visitor.scope, _find_kind(visitor)
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > LONGEST_LINK:
            return answer_in_words(visitor, TOO_LONG, LINK_TOO_LONG)
        if kind == "file":  # Streamlit keeps it until its session ends, asked for or not
            manager: Any = runtime.get_instance().uploaded_file_mgr
            kept: dict[str, Any] = manager.file_storage
            of_session = len(kept.get(scope["path"].split("/")[-2], ()))
            is_much = sum(map(len, kept.values())) >= self.most.files
            if is_much or of_session >= self.most.files_of_session:
                return answer_in_words(visitor, MANY_FILES, 429)
        # Whose socket would be refused reads why instead of the page that waits for it.
        counted = self.open.get("websocket" if kind == "page" else kind)
        if counted is not None and counted.total() >= self.most.sessions:
            return answer_in_words(visitor, MANY, 503)
        if counted is not None and counted[find_address(visitor)] >= self.most.sessions_of_address:
            return answer_in_words(visitor, MANY_HERE, 429)
        return None

    @staticmethod
    async def _count(
        counted: Counter[str], address: str, serve: Callable[[], Awaitable[None]]
    ) -> None:
        counted[address] += 1
        try:
            await serve()
        finally:
            counted[address] -= 1
            if not counted[address]:
                del counted[address]


def read_at_a_pace(receive: Receive) -> Receive:
    """Leave in the network what a visitor sends faster than any browser does; none of it is lost.

    All sessions have one event loop: reading the messages of one keeps the others waiting.
    """
    pace = Pace(MESSAGES_EACH_SECOND, MESSAGES_AT_ONCE)

    async def receive_next() -> Message:
        message = await receive()
        size = len(message.get("bytes") or message.get("text") or "")
        if wait := pace.count(1 + size / BYTES_OF_MESSAGE):
            await asyncio.sleep(wait)
        return message

    return receive_next


def _find_kind(visitor: HTTPConnection) -> str:
    """What is asked for, as far as limits know it."""
    scope = visitor.scope
    if scope["type"] == "websocket":
        return "websocket"
    if scope["method"] == "PUT" and "/_stcore/upload_file/" in scope["path"]:
        return "file"
    if "text/event-stream" in visitor.headers.get("accept", "") or "/follow/" in scope["path"]:
        return "stream"
    return "page" if "text/html" in visitor.headers.get("accept", "") else ""


def answer_in_words(visitor: HTTPConnection, text: str, status: int) -> Response:
    """A page of one sentence, in the first language of the browser's that there is."""
    asked = Headers(scope=visitor.scope).get("accept-language", "")
    code = asked[:2].lower() if asked[:2].lower() in list_languages() else ENGLISH
    headers = {"Cache-Control": "no-store"}
    if status in (429, 503):
        # Who reloads at the limit is counted until the old page has gone: ask again by itself.
        headers |= {"Retry-After": AGAIN, "Refresh": AGAIN}
    return PlainTextResponse(translate(text, code), status, headers)
