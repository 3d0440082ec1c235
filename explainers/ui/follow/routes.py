"""The routes beside the app that carry a lecture: what the lecturer says, and who hears it.

A message may come from anybody: it is refused unless it says what the app itself would accept.
"""

import asyncio
import functools
import json
import os
import re
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send
from streamlit import config

from explainers.ui.follow.audience import Listener
from explainers.ui.follow.board import (
    BEAT,
    LETTERS_OF_ROOM,
    OPTIONS,
    QUESTION,
    REASONS,
    SHORTEST_CODE,
    Memory,
    RefusedError,
)
from explainers.ui.follow.checked_request import (
    ROOM,
    keep_choices,
    name_group,
    name_room,
    read_address,
    read_ballot,
    read_letters,
    read_message,
    read_owner,
    read_room,
    read_secret,
    read_whole,
    refuse_elsewhere,
)
from explainers.ui.lecture.share_link import draw_code, list_places
from explainers.ui.limits import find_address

if TYPE_CHECKING:
    from explainers.ui.follow.redis_board import Redis

    Board = Memory | Redis

LONGEST_QUERY, MOST_ROUNDS = 2000, 9
LARGEST_NUMBER = 2**53 - 1
"""That a browser counts up to; messages are numbered by its clock."""
MOST_DRAWN = 8
"""Codes to scan that are drawn or wait for it at a time."""
BALLOT = re.compile(r"[0-9a-f]{32}")
STREAM_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store, no-transform"),
    (b"x-accel-buffering", b"no"),  # nginx would wait until there is more
]
WISH_TO_LEAD = "#lead"
"""Behind a link to a room. It says nothing that is secret: see browser/follow/handover.js."""
BOARD_ADDRESS = "ATTENTION_BOARD"
"""The environment's name for the address of a Redis server that several processes share."""


def open_board() -> "Board":
    """The board that the environment names, or one of this process."""
    address = os.environ.get(BOARD_ADDRESS, "")
    if not address:
        return Memory()
    from explainers.ui.follow.redis_board import Redis  # only where it is asked for

    return Redis(address)


class Following:
    """The routes, and what they share."""

    def __init__(self, board: "Board") -> None:
        self.board = board
        self.places, self.drawing = frozenset(list_places()), 0

    def list_routes(self) -> list[Route]:
        """For `st.App`."""
        routes: list[tuple[str, Callable[[Request], Awaitable[Any]], str]] = [
            ("health/follow", self.health, "GET"),
            ("follow/{room}", self.follow, "GET"),
            ("lead", self.open, "POST"),
            ("lead/{room}", self.lead, "POST"),
            ("lead/{room}", self.close, "DELETE"),
            ("lead/{room}/ask", self.ask_to_lead, "POST"),
            ("lead/{room}/heir", self.hand_over, "POST"),
            ("vote/{room}/{question}", self.vote, "POST"),
        ]
        listed = [
            RouteBelowBase(f"/{path}", self._answer(act), methods=[method])
            for path, act, method in routes
        ]
        for route in listed:  # Starlette adds HEAD, which would hold a stream open
            route.methods = route.methods and route.methods - {"HEAD"}
        return [*listed]

    @asynccontextmanager
    async def lifespan(self, _app: Any) -> AsyncIterator[None]:
        """Open streams would keep the server from ending: they end when the signal comes."""
        loop = asyncio.get_running_loop()
        stopping: list[asyncio.Task[None]] = []

        def stop() -> None:
            if not stopping:
                stopping.append(loop.create_task(self.board.stop()))

        await self.board.start()
        restore = _on_signal(lambda: loop.call_soon_threadsafe(stop))
        try:
            yield
        finally:
            restore()
            stop()
            await stopping[0]

    async def health(self, _request: Request) -> Response:
        """For a monitor: pages may work while nobody hears a lecturer."""
        return JSONResponse({"following": self.board.is_well}, 200 if self.board.is_well else 503)

    async def follow(self, request: Request) -> "Stream":
        """Server-sent events: where the lecturer is, now and from now on."""
        asked = request.query_params
        # A browser that connects again by itself says the id of the last event that had one.
        ballot = request.headers.get("last-event-id") or asked.get("ballot", "")
        ballot = ballot if BALLOT.fullmatch(ballot) else ""
        who = "lecturer" in asked, ballot, find_address(request)
        return Stream(self.board, request.path_params["room"], *who)

    async def open(self, request: Request) -> Response:
        """Open the room of a secret; answers its name and the codes that lead to it.

        Who leads a room by a handover names it: it is called after another secret, and is open.
        """
        said = await read_message(request)
        own, owner = name_room(read_secret(request))
        address, room = read_address(said), read_letters(said, "room", own)
        host = find_address(request)
        await self.board.open_room(room, owner, host, may_begin=room == own)
        link = f"{address}?follow={room}"
        codes = {"join": await self._draw(link), "lead": await self._draw(link + WISH_TO_LEAD)}
        return JSONResponse({"room": room, "code": await self._shorten(room), **codes})

    async def lead(self, request: Request) -> Response:
        """Say where the lecturer is."""
        said = await read_message(request)
        room, owner = read_owner(request)
        page, query = said.get("page"), said.get("query")
        if not isinstance(page, str) or page not in self.places:
            raise RefusedError("wrong")
        if not isinstance(query, str) or len(query) > LONGEST_QUERY or not query.isprintable():
            raise RefusedError("wrong")
        number = read_whole(said, "number", LARGEST_NUMBER)
        place = {"number": number, "page": page, "query": keep_choices(query)}
        for name, most in (("screen", 999), ("step", 9), ("round", MOST_ROUNDS)):
            place[name] = read_whole(said, name, most)
        await self.board.lead(room, owner, number, json.dumps(place, separators=(",", ":")))
        return JSONResponse({})

    async def ask_to_lead(self, request: Request) -> Response:
        """A code that this device shows; the lecturer types it to hand over to it."""
        ballot = read_ballot(await read_message(request))
        return JSONResponse({"code": await self.board.ask_to_lead(*read_owner(request), ballot)})

    async def hand_over(self, request: Request) -> Response:
        """Let the device that shows this code lead."""
        code = read_letters(await read_message(request), "code")
        await self.board.hand_over(*read_owner(request), code)
        return JSONResponse({})

    async def close(self, request: Request) -> Response:
        """End the lecture: everybody is told, and nothing is kept."""
        refuse_elsewhere(request)
        await self.board.close_room(*read_owner(request))
        return JSONResponse({})

    async def vote(self, request: Request) -> Response:
        """Count the number of an option; no text from the audience goes any further."""
        said = await read_message(request)
        question, room = request.path_params["question"], read_room(request)
        if not QUESTION.fullmatch(question):
            raise RefusedError("wrong")
        option = read_whole(said, "option", OPTIONS - 1)
        await self.board.vote(room, question, read_ballot(said), option)
        return JSONResponse({})

    async def _draw(self, link: str) -> tuple[str, int]:
        """Beside the server's loop, which others wait for: it takes longer than all else here."""
        if self.drawing >= MOST_DRAWN:
            raise RefusedError("too fast")
        self.drawing += 1
        try:
            return await asyncio.to_thread(_draw_once, link)
        finally:
            self.drawing -= 1

    async def _shorten(self, room: str) -> str:
        """The least that has to be typed for the room."""
        for letters in range(SHORTEST_CODE, LETTERS_OF_ROOM):
            try:
                if await self.board.find_room(room[:letters]) == room:
                    return room[:letters]
            except RefusedError as refused:
                if refused.reason != "unknown":
                    raise
        return room

    @staticmethod
    def _answer(act: Callable[[Request], Awaitable[Any]]) -> Callable[[Request], Awaitable[Any]]:
        """Refuse in words that a browser can show."""

        async def answer(request: Request) -> Any:
            try:
                return await act(request)
            except RefusedError as refused:
                return JSONResponse({"error": refused.reason}, REASONS[refused.reason])

        return answer


class RouteBelowBase(Route):
    """Streamlit does not put its base path before an app's routes, and knows it only later."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Is it this route's path, below the base?"""
        base, path = read_base(), scope["path"]
        if not path.startswith(f"{base}/"):
            return Match.NONE, {}
        return super().matches({**scope, "path": path.removeprefix(base)})


class Stream:
    """An answer that goes on: as plain ASGI it takes neither a thread nor a buffer."""

    def __init__(
        self, board: "Board", code: str, is_lecturer: bool, ballot: str, address: str
    ) -> None:
        self.board, self.code, self.is_lecturer = board, code, is_lecturer
        self.ballot, self.address = ballot, address

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Tell what the board tells, until one of the two goes away."""

        async def say(text: str, is_last: bool = False) -> None:
            body = {"body": text.encode(), "more_body": not is_last}
            await send({"type": "http.response.body", **body})

        start = {"type": "http.response.start", "status": 200, "headers": STREAM_HEADERS}
        try:
            if not ROOM.fullmatch(self.code):
                raise RefusedError("unknown")
            room = await self.board.find_room(self.code)
            group = name_group(self.address, room)
            listener = await self.board.join(room, self.is_lecturer, self.ballot, group)
        except RefusedError as refused:
            # A browser does not show a script the status of a stream; words it does.
            await send(start)
            return await say(write_event("refused", json.dumps(refused.reason)), is_last=True)
        gone = asyncio.create_task(_wait_until_gone(receive, listener))
        try:
            await send(start)
            await say("retry: 1000\n\n")
            while not gone.done():
                news = await listener.hear(BEAT)
                told = "".join(write_event(*one) for one in news.items())
                await say(told or write_event("still", "1"))
                if news.keys() & {"bye", "over"}:
                    break
            await say("", is_last=True)
        finally:
            gone.cancel()
            await self.board.leave(room, listener)
        return None


def write_event(kind: str, text: str) -> str:
    """An event of a stream. A text is JSON in one line, or nothing."""
    line = "".join(text.splitlines()) or "1"  # a second line could be another event
    told = f"event: {kind}\ndata: {line}\n\n"
    return f"id: {line}\n{told}" if kind == "ballot" else told


_draw_once = functools.lru_cache(maxsize=256)(draw_code)


async def _wait_until_gone(receive: Receive, listener: Listener) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    listener.wake()


def read_base() -> str:
    """What stands before every path of this server: "" or "/path"."""
    base = str(config.get_option("server.baseUrlPath")).strip("/")
    return f"/{base}" if base else ""


def _on_signal(act: Callable[[], Any]) -> Callable[[], None]:
    """Act when the server is told to end, before it does; returns what undoes this."""
    before: dict[int, Any] = {}

    def end(number: int, frame: FrameType | None) -> None:
        act()
        if callable(before[number]):
            before[number](number, frame)

    try:
        for number in (signal.SIGTERM, signal.SIGINT):
            before[number] = signal.getsignal(number)
            signal.signal(number, end)
    except ValueError:  # a thread of a test has no signals
        before.clear()

    def restore() -> None:
        for one in before.items():
            signal.signal(*one)

    return restore
