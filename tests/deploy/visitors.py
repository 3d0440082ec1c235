"""Visitors without browsers: each has a session, and comes back to it as a browser does."""

import asyncio
import hashlib
import http.client
import random
from urllib.parse import urlsplit

import websockets

from benchmarks.sessions import Session
from tests.deploy.replicas import ask, read_seat

CHECKS = "/_stcore/health", "/_stcore/host-config"
"""What a browser asks before it connects."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 4
"""Seconds that a browser waits at most, at first and later, before it tries to connect again."""
Picture = dict[tuple[int, ...], str]
"""Where on a page → a digest of what is drawn there."""


class Drawing(Session):
    """A session that remembers what it was told to draw."""

    def __init__(self, socket):
        super().__init__(socket)
        self.id = ""
        self.picture: Picture = {}

    def _has_ended(self, message):
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.id, self.picture = message.new_session.initialize.session_id, {}
        elif kind == "delta":
            self.picture[tuple(message.metadata.delta_path)] = digest(message.delta)
        return super()._has_ended(message)


class Visitor:
    """One who looks at a page, and stays."""

    def __init__(self, address, page, query):
        self.address, self.page, self.query = address, page, query
        self.seat = self.session = ""
        self.picture: Picture = {}
        self.is_here = False
        self.tries: list[int] = []
        """Each time the connection broke: how often it was tried until the picture was there."""

    async def come(self):
        """Connect and have the page drawn."""
        for path in CHECKS:
            await asyncio.to_thread(self._ask, path)
        protocols = ["streamlit", "PLACEHOLDER_AUTH_TOKEN", *filter(None, [self.session])]
        self.socket = await websockets.connect(
            f"{self.address.replace('http', 'ws')}/_stcore/stream",
            max_size=None,
            subprotocols=[websockets.Subprotocol(one) for one in protocols],
            additional_headers={"Cookie": f"replica={self.seat}"},
        )
        assert self.socket.response
        self.seat = read_seat(self.socket.response.headers) or self.seat
        drawing = Drawing(self.socket)
        await drawing.open(self.page, self.query)
        self.session, self.picture, self.is_here = drawing.id, drawing.picture, True

    async def stay(self, until):
        """Be there until an event; come back whenever the connection breaks."""
        waiting = asyncio.create_task(until.wait())
        while not waiting.done():
            gone = asyncio.create_task(self.socket.wait_closed())
            await asyncio.wait([waiting, gone], return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                await self._return()
        gone.cancel()
        await self.socket.close()

    async def _return(self):
        self.is_here, longest = False, FIRST_WAIT
        self.tries.append(0)
        while not self.is_here:
            self.tries[-1] += 1
            await asyncio.sleep(random.uniform(longest / 2, longest))
            longest = min(LONGEST_WAIT, 2 * longest)
            try:
                await self.come()
            except (OSError, EOFError, http.client.HTTPException, websockets.WebSocketException):
                continue

    def _ask(self, path):
        headers = {"Cookie": f"replica={self.seat}"}
        answer = ask(urlsplit(self.address).port, path, headers=headers, timeout=10)
        if answer.status != 200:
            raise http.client.HTTPException(answer.status)
        self.seat = read_seat(answer.headers) or self.seat


def digest(delta):
    """What is drawn; a file to be downloaded has another address in each session, and a widget is
    told its value once."""
    if kind := delta.new_element.WhichOneof("type"):
        element = getattr(delta.new_element, kind)
        names = element.DESCRIPTOR.fields_by_name
        of_widget = {"set_value", "value", "raw_values"} if "set_value" in names else set()
        for name in ({"deferred_file_id"} | of_widget) & {*names}:
            element.ClearField(name)
        delta.new_element.ClearField("has_one_shot_effect")
    return hashlib.sha256(delta.SerializeToString(deterministic=True)).hexdigest()
