"""The board of a lecture: what each room's lecturer said last, and who is told.

A room is a lecturer and all who follow. Its name comes from a secret of the lecturer's browser.
`Memory` serves one process; `redis_board.py` does the same for several.
"""

import asyncio
import hmac
import json
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from explainers.ui.follow.audience import Audience, Background, Listener

LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
SHORTEST_CODE, LETTERS_OF_ROOM = 6, 16
"""Letters of a room's name: the least that may be typed for it, and all."""
OPTIONS = 6
"""Answers that a question has at most."""
BEAT = 15.0
"""Seconds after which a stream shows that it is alive, and boards put themselves in order."""
REASONS = {
    "not yours": 403,
    "unknown": 404,
    "no device": 404,
    "older": 409,
    "too fast": 429,
    "many rooms here": 429,
    "many votes": 429,
    "many rooms": 503,
    "full": 503,
    "away": 503,
}
"""Why the board may refuse, and HTTP's number for it."""


class Limits(NamedTuple):
    """What one server carries."""

    rooms: int = 200
    rooms_of_address: int = 20
    followers: int = 500
    """Of a room; as many may vote, or ask to lead it."""
    messages: int = 10
    """In a second, from a lecturer."""
    questions: int = 50
    """Of a room."""
    seconds: float = 4 * 3600
    """That a room lasts."""
    seconds_to_lead: float = 300
    """In which a device that asked to lead may be accepted."""


class RefusedError(Exception):
    """What the board does not do; `reason` is one of `REASONS`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Board(Protocol):
    """What routes need of a board. Every method may raise `RefusedError`."""

    @property
    def is_well(self) -> bool:
        """Does what a lecturer says reach the streams of this process?"""

    async def start(self) -> None:
        """Begin, in the loop of the server."""

    async def stop(self) -> None:
        """Let every stream end."""

    async def open_room(self, room: str, owner: str, address: str, may_begin: bool = True) -> None:
        """Open a room for its owner; one that is open stays as it is."""

    async def close_room(self, room: str, owner: str) -> None:
        """Send everybody away and keep nothing."""

    async def ask_to_lead(self, room: str, heir: str) -> str:
        """A code by which the owner may accept another device: for some minutes, and once."""

    async def hand_over(self, room: str, owner: str, code: str) -> None:
        """The device with this code owns the room now, and nobody else; all are told."""

    async def find_room(self, code: str) -> str:
        """The name of the one room that begins so."""

    async def lead(self, room: str, owner: str, number: int, text: str) -> None:
        """Tell the followers where the lecturer is; the highest number wins."""

    async def vote(self, room: str, question: str, voter: str, option: int) -> None:
        """Count a vote; a second one of the same voter replaces the first."""

    async def join(self, room: str, is_lecturer: bool = False) -> Listener:
        """Listen to a room; the last that its lecturer said is told at once."""

    async def leave(self, room: str, listener: Listener) -> None:
        """Listen no more."""


def write_count(followers: int, votes: dict[str, list[int]]) -> str:
    """What a lecturer hears of the audience: how many follow, and how each question's votes are."""
    return json.dumps({"followers": followers, "votes": votes}, separators=(",", ":"))


def draw_code_to_lead() -> str:
    """Short, for it is typed; only the owner can use it, and who guesses it gains nothing."""
    return "".join(secrets.choice(LETTERS) for _ in range(SHORTEST_CODE))


def find_only(code: str, rooms: Iterable[str]) -> str:
    """The one room whose name begins so; a code that fits several is refused as unknown."""
    found = [room for room in rooms if room.startswith(code)]
    if len(code) < SHORTEST_CODE or len(found) != 1:
        raise RefusedError("unknown")
    return found[0]


@dataclass
class Room:
    """A room as one process remembers it."""

    owner: str
    address: str
    opened: float
    number: int = 0
    text: str = ""
    second: float = 0.0
    """When the second began in which messages are counted."""
    messages: int = 0
    votes: dict[str, dict[str, int]] = field(default_factory=dict)
    """By question and voter."""
    heirs: dict[str, tuple[str, float]] = field(default_factory=dict)
    """By code: a device that asked to lead, and until when it may."""


class Memory:
    """The board of one process."""

    is_well = True

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.audience = Audience()
        self._rooms: dict[str, Room] = {}  # the oldest first
        self._background = Background()

    async def start(self) -> None:
        """See `Board`."""
        self._background.begin(self._beat)

    async def stop(self) -> None:
        """See `Board`."""
        self._background.stop()
        self.audience.dismiss()

    async def open_room(self, room: str, owner: str, address: str, may_begin: bool = True) -> None:
        """See `Board`. Where all rooms are taken, the oldest without followers gives way."""
        self._end_old_rooms()
        if room in self._rooms or not may_begin:
            self._find_own(room, owner)
            return
        here = sum(one.address == address for one in self._rooms.values())
        if here >= self.limits.rooms_of_address:
            raise RefusedError("many rooms here")
        if len(self._rooms) >= self.limits.rooms:
            quiet = [name for name in self._rooms if not self.audience.count_followers(name)]
            if not quiet:
                raise RefusedError("many rooms")
            self._end(quiet[0])
        self._rooms[room] = Room(owner, address, time.monotonic())

    async def close_room(self, room: str, owner: str) -> None:
        """See `Board`."""
        self._find_own(room, owner)
        self._end(room)

    async def ask_to_lead(self, room: str, heir: str) -> str:
        """See `Board`."""
        found, now = self._find(room), time.monotonic()
        found.heirs = {code: one for code, one in found.heirs.items() if one[1] > now}
        if len(found.heirs) >= self.limits.followers:
            raise RefusedError("full")
        found.heirs[code := draw_code_to_lead()] = heir, now + self.limits.seconds_to_lead
        return code

    async def hand_over(self, room: str, owner: str, code: str) -> None:
        """See `Board`."""
        found = self._find_own(room, owner)
        heir, until = found.heirs.pop(code, ("", 0.0))
        if until <= time.monotonic():
            raise RefusedError("no device")
        found.owner = heir
        self.audience.tell(room, "handed", json.dumps(code))

    async def find_room(self, code: str) -> str:
        """See `Board`."""
        self._end_old_rooms()
        return find_only(code, self._rooms)

    async def lead(self, room: str, owner: str, number: int, text: str) -> None:
        """See `Board`."""
        found, now = self._find_own(room, owner), time.monotonic()
        if now - found.second >= 1:
            found.second, found.messages = now, 0
        found.messages += 1
        if found.messages > self.limits.messages:
            raise RefusedError("too fast")
        if number <= found.number:
            raise RefusedError("older")
        found.number, found.text = number, text
        self.audience.tell(room, "at", text)

    async def vote(self, room: str, question: str, voter: str, option: int) -> None:
        """See `Board`."""
        questions = self._find(room).votes
        votes = questions.get(question, {})
        is_full = len(votes) >= self.limits.followers and voter not in votes
        if is_full or (question not in questions and len(questions) >= self.limits.questions):
            raise RefusedError("many votes")
        questions.setdefault(question, votes)[voter] = option
        self.audience.soon(room, self._count)

    async def join(self, room: str, is_lecturer: bool = False) -> Listener:
        """See `Board`."""
        found = self._find(room)
        if len(self.audience.rooms.get(room, ())) >= self.limits.followers:
            raise RefusedError("full")
        listener = Listener(is_lecturer)
        self.audience.add(room, listener)
        if found.text:
            listener.tell("at", found.text)
        self.audience.soon(room, self._count)
        return listener

    async def leave(self, room: str, listener: Listener) -> None:
        """See `Board`."""
        self.audience.remove(room, listener)
        self.audience.soon(room, self._count)

    def _find(self, name: str) -> Room:
        self._end_old_rooms()
        if name not in self._rooms:
            raise RefusedError("unknown")
        return self._rooms[name]

    def _find_own(self, name: str, owner: str) -> Room:
        room = self._find(name)
        if not hmac.compare_digest(room.owner, owner):  # another secret with the same letters
            raise RefusedError("not yours")
        return room

    def _count(self, name: str) -> None:
        room = self._rooms.get(name)
        if room is None:
            return
        votes = {
            question: [list(by_voter.values()).count(option) for option in range(OPTIONS)]
            for question, by_voter in room.votes.items()
        }
        count = write_count(self.audience.count_followers(name), votes)
        self.audience.tell(name, "count", count, lecturers_only=True)

    def _end_old_rooms(self) -> None:
        latest = time.monotonic() - self.limits.seconds
        for name in [name for name, room in self._rooms.items() if room.opened < latest]:
            self._end(name)

    def _end(self, name: str) -> None:
        del self._rooms[name]
        self.audience.tell(name, "over")

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(min(BEAT, self.limits.seconds))
            self._end_old_rooms()
