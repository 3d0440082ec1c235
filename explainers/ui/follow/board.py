"""The board of a lecture: what each room's lecturer said last, and who is told.

A room is a lecturer and all who follow. Its name comes from a secret of the lecturer's browser.
`Memory` serves one process; `redis_board.py` does the same for several.
"""

import asyncio
import hmac
import json
import re
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from explainers.ui.follow.audience import Audience, Background, Listener

LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
SHORTEST_CODE, LETTERS_OF_ROOM = 6, 16
"""Letters of a room's name: the least that may be typed for it, and all."""
OPTIONS = 6
"""Answers that a question has at most."""
QUESTION = re.compile(r"[a-z0-9_-]{1,80}")
BEAT = 15.0
"""Seconds after which a stream shows that it is alive, and boards put themselves in order."""
REASONS = {
    "wrong": 400,
    "elsewhere": 403,
    "not yours": 403,
    "no stream": 403,
    "unknown": 404,
    "no device": 404,
    "older": 409,
    "too long": 413,
    "no JSON": 415,
    "too fast": 429,
    "many rooms here": 429,
    "many votes": 429,
    "many rooms": 503,
    "full": 503,
    "away": 503,
}
"""Why a message may be refused, before the board or by it, and HTTP's number for it."""


class Limits(NamedTuple):
    """What one server carries."""

    rooms: int = 200
    rooms_of_address: int = 20
    followers: int = 500
    """Of a room."""
    messages: int = 10
    """In a second, from a lecturer, and from each who votes."""
    questions: int = 50
    """Of a room."""
    seconds: float = 4 * 3600
    """That a room lasts."""
    seconds_to_lead: float = 300
    """In which a device that asked to lead may be accepted."""


class RefusedError(Exception):
    """What is not done, or not even read; `reason` is one of `REASONS`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


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
class Pace:
    """How much was said in this second."""

    begun: float = 0.0
    count: int = 0

    def step(self, most: int) -> None:
        """Say one thing more, or be refused."""
        now = time.monotonic()
        if now - self.begun >= 1:
            self.begun, self.count = now, 0
        self.count += 1
        if self.count > most:
            raise RefusedError("too fast")


@dataclass
class Seat:
    """What a vote belongs to. It is free while `listener` is None, and keeps its votes."""

    number: int
    ballot: str = ""
    group: str = ""
    listener: Listener | None = None
    pace: Pace = field(default_factory=Pace)


class Seats:
    """The seats of a room: never more in a network than it had streams open at a time.

    A stream that comes without a ballot takes the seat that was left last in its network, if one
    is free there, and its ballot is another one then. So leaving and coming back makes no votes,
    and a phone that sleeps keeps its vote.
    """

    def __init__(self) -> None:
        self._seats: list[Seat] = []  # the one that was left last is the last one

    def take(self, listener: Listener, most: int) -> None:
        """Give a listener its seat again, a free one, or a new one; fewer than `most` are held."""
        seat = next((one for one in self._seats if one.ballot == listener.ballot), None)
        if seat is None:
            free = [one for one in self._seats if one.listener is None]
            near = [one for one in free if one.group == listener.group]
            if near:
                seat = near[-1]
            elif len(self._seats) < most:
                self._seats.append(seat := Seat(len(self._seats)))
            else:
                seat = free[0]
            seat.ballot = secrets.token_hex(16)
        seat.listener, seat.group = listener, listener.group
        listener.give(seat.ballot)

    def leave(self, listener: Listener) -> None:
        """Let others have the seat, unless a newer stream of the same reader has it."""
        for seat in [one for one in self._seats if one.listener is listener]:
            seat.listener = None
            self._seats.remove(seat)
            self._seats.append(seat)

    def find(self, ballot: str) -> Seat:
        """The seat of an open stream."""
        for seat in self._seats:
            if seat.listener and hmac.compare_digest(seat.ballot, ballot):
                return seat
        raise RefusedError("no stream")


@dataclass
class Room:
    """A room as one process remembers it."""

    owner: str
    address: str
    opened: float
    number: int = 0
    text: str = ""
    pace: Pace = field(default_factory=Pace)
    seats: Seats = field(default_factory=Seats)
    votes: dict[str, dict[int, int]] = field(default_factory=dict)
    """By question and seat."""
    heirs: dict[int, tuple[str, str, float]] = field(default_factory=dict)
    """By seat: the code of a device that asked to lead, the device, and until when it may."""


class Memory:
    """The board of one process. Every method may raise `RefusedError`."""

    is_well = True
    """Does what a lecturer says reach the streams of this process?"""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.audience = Audience()
        self._rooms: dict[str, Room] = {}  # the oldest first
        self._background = Background()

    async def start(self) -> None:
        """Begin, in the loop of the server."""
        self._background.begin(self._beat)

    async def stop(self) -> None:
        """Let every stream end."""
        self._background.stop()
        self.audience.dismiss()

    async def open_room(self, room: str, owner: str, address: str, may_begin: bool = True) -> None:
        """Open a room for its owner; one that is open stays as it is.

        Where all rooms are taken, the oldest without followers gives way.
        """
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
        """Send everybody away and keep nothing."""
        self._find_own(room, owner)
        self._end(room)

    async def ask_to_lead(self, room: str, heir: str, ballot: str) -> str:
        """A code by which the owner may accept another device: for some minutes, and once.

        An open stream has one: its next one takes the place of the last.
        """
        found, code = self._find(room), draw_code_to_lead()
        latest = time.monotonic() + self.limits.seconds_to_lead
        found.heirs[found.seats.find(ballot).number] = code, heir, latest
        return code

    async def hand_over(self, room: str, owner: str, code: str) -> None:
        """The device with this code owns the room now, and nobody else; all are told."""
        found = self._find_own(room, owner)
        now, heirs = time.monotonic(), found.heirs
        seats = [seat for seat, (shown, _, until) in heirs.items() if shown == code and until > now]
        if not seats:
            raise RefusedError("no device")
        _, found.owner, _ = heirs.pop(seats[0])
        self.audience.tell(room, "handed", json.dumps(code))

    async def find_room(self, code: str) -> str:
        """The name of the one room that begins so."""
        self._end_old_rooms()
        return find_only(code, self._rooms)

    async def lead(self, room: str, owner: str, number: int, text: str) -> None:
        """Tell the followers where the lecturer is; the highest number wins."""
        found = self._find_own(room, owner)
        found.pace.step(self.limits.messages)
        if number <= found.number:
            raise RefusedError("older")
        found.number, found.text = number, text
        self.audience.tell(room, "at", text)

    async def vote(self, room: str, question: str, ballot: str, option: int) -> None:
        """Count a vote of an open stream; a second one replaces the first."""
        found = self._find(room)
        seat = found.seats.find(ballot)
        seat.pace.step(self.limits.messages)
        if question not in found.votes and len(found.votes) >= self.limits.questions:
            raise RefusedError("many votes")
        found.votes.setdefault(question, {})[seat.number] = option
        self.audience.soon(room, self._count)

    async def join(
        self, room: str, is_lecturer: bool = False, ballot: str = "", group: str = ""
    ) -> Listener:
        """Listen to a room; the last that its lecturer said is told at once.

        A follower takes a seat, and is told the ballot by which its votes count. Who shows an
        earlier one has the same seat again; `group` is of a network, see `Seats`.
        """
        found = self._find(room)
        if len(self.audience.rooms.get(room, ())) >= self.limits.followers:
            raise RefusedError("full")
        listener = Listener(is_lecturer, ballot, group)
        self.audience.add(room, listener)
        if not is_lecturer:
            found.seats.take(listener, self.limits.followers)
        if found.text:
            listener.tell("at", found.text)
        self.audience.soon(room, self._count)
        return listener

    async def leave(self, room: str, listener: Listener) -> None:
        """Listen no more."""
        self.audience.remove(room, listener)
        if room in self._rooms:
            self._rooms[room].seats.leave(listener)
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
            question: [list(by_seat.values()).count(option) for option in range(OPTIONS)]
            for question, by_seat in room.votes.items()
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
