"""The board of several processes: Redis keeps what is said, and passes it on to all of them."""

import asyncio
import contextlib
import json
import secrets
import time
from collections.abc import Coroutine, Iterable
from pathlib import Path
from typing import Any

import redis.asyncio as redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from explainers.ui.follow.audience import Audience, Background, Listener, Seldom
from explainers.ui.follow.board import (
    BEAT,
    OPTIONS,
    QUESTION,
    SHORTEST_CODE,
    Limits,
    RefusedError,
    draw_code_to_lead,
    find_only,
    write_count,
)

PREFIX = "attention:"
CHANNEL = f"{PREFIX}said:"
SCRIPT = Path(__file__).with_suffix(".lua")
PATIENCE, QUIET = 1.0, 5.0
"""Seconds: for an answer of Redis, and of silence after which it is asked whether it is there."""
MOST_CONNECTIONS, LONGEST_SAID = 50, 10_000
"""Of a process with Redis; letters of a message that is read."""
FORGET_AFTER = 2.7 * BEAT
"""Seconds after which a process that is not heard of has no followers any more."""


class Redis:
    """The board that processes share through a server of Redis: it does what `Memory` does."""

    def __init__(self, url: str, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.audience = Audience()
        self._process = secrets.token_hex(8)
        self._others: dict[str, dict[str, tuple[float, int]]] = {}
        """By room and process: when it was heard of, and how many follow there."""
        self._votes: dict[str, dict[str, list[int]]] = {}
        """By room and question, of rooms that somebody listens to here."""
        # What is no text at all is read as letters that mean nothing. A connection that is lost is
        # not mended in silence: what was said meanwhile would be missed.
        settings: dict[str, Any] = {"decode_responses": True, "encoding_errors": "replace"}
        settings |= {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE}
        settings |= {"retry": Retry(NoBackoff(), 0), "health_check_interval": QUIET}
        pool = redis.BlockingConnectionPool.from_url(
            url, max_connections=MOST_CONNECTIONS, timeout=PATIENCE, **settings
        )
        self._redis: Any = redis.Redis.from_pool(pool)
        self._act = self._redis.register_script(SCRIPT.read_text(encoding="utf-8"))
        self.is_well = False
        self._background, self._skipped = Background(), Seldom()
        self._doing: set[asyncio.Task[None]] = set()
        self._changed: dict[str, set[str]] = {}
        """By room: questions with votes that are not counted yet."""

    async def start(self) -> None:
        self._background.begin(self._listen)
        self._background.begin(self._beat)

    async def stop(self) -> None:
        self._background.stop()
        self.audience.dismiss()
        await self._redis.aclose()

    async def open_room(self, room: str, owner: str, address: str, may_begin: bool = True) -> None:
        limits, now = self.limits, int(1000 * time.time())
        most = limits.rooms, limits.rooms_of_address, int(1000 * limits.seconds)
        await self._run("open", room, owner, address, *most, now, int(may_begin))

    async def close_room(self, room: str, owner: str) -> None:
        await self._run("close", room, owner)

    async def ask_to_lead(self, room: str, heir: str, ballot: str) -> str:
        code, life = draw_code_to_lead(), int(1000 * self.limits.seconds_to_lead)
        await self._run("ask_to_lead", room, ballot, code, heir, life)
        return code

    async def hand_over(self, room: str, owner: str, code: str) -> None:
        said = json.dumps({"kind": "handed", "text": json.dumps(code)})
        await self._run("hand_over", room, owner, code, said)

    async def find_room(self, code: str) -> str:
        if len(code) < SHORTEST_CODE:
            raise RefusedError("unknown")
        named = find_only(code, await self._ask(self._redis.zrange(f"{PREFIX}rooms", 0, -1)))
        if not await self._ask(self._redis.exists(f"{PREFIX}room:{named}")):
            raise RefusedError("unknown")
        return named

    async def lead(self, room: str, owner: str, number: int, text: str) -> None:
        said = json.dumps({"kind": "at", "text": text})
        await self._run("lead", room, owner, number, text, self.limits.messages, said)

    async def vote(self, room: str, question: str, ballot: str, option: int) -> None:
        most = self.limits.messages, self.limits.questions
        await self._run("vote", room, ballot, question, option, *most)

    async def join(
        self, room: str, is_lecturer: bool = False, ballot: str = "", group: str = ""
    ) -> Listener:
        others = self._count_followers(room) - self.audience.count_followers(room)
        if len(self.audience.rooms.get(room, ())) + others >= self.limits.followers:
            raise RefusedError("full")
        listener = Listener(is_lecturer, ballot, group)
        self.audience.add(room, listener)  # before the room is read: nothing falls in between
        try:
            kept = await self._ask(self._redis.hgetall(f"{PREFIX}room:{room}"))
            if not kept:
                raise RefusedError("unknown")
            if is_lecturer:
                await self._ask(self._count_votes(room))
            else:
                await self._sit(room, listener, is_new=True)
        except RefusedError:
            self.audience.remove(room, listener)
            raise
        if "text" in kept and "at" not in listener.news:
            listener.tell("at", kept["text"])
        self.audience.soon(room, self._announce)
        return listener

    async def leave(self, room: str, listener: Listener) -> None:
        self.audience.remove(room, listener)
        self.audience.soon(room, self._announce)
        with contextlib.suppress(RefusedError):  # else the seat is free some seconds later
            if listener.ballot:
                await self._run("rise", room, listener.ballot, listener.name)

    async def _sit(self, room: str, listener: Listener, is_new: bool = False) -> None:
        """Hold a seat for some time, as `Seats` does for ever."""
        until, spare = int(1000 * FORGET_AFTER), secrets.token_hex(16)
        who = listener.ballot, listener.group, listener.name, spare
        most = self.limits.followers
        ballot = await self._run("sit", room, *who, until, most, int(is_new))
        if is_new or ballot != listener.ballot:
            listener.give(ballot)

    async def _sit_all(self, room: str) -> None:
        for listener in list(self.audience.rooms.get(room, ())):
            with contextlib.suppress(RefusedError):  # without a room there are no seats
                if listener.is_seated:  # who is about to sit down would have two seats
                    await self._sit(room, listener)

    async def _run(self, act: str, room: str, *arguments: str | int) -> str:
        """What `redis_board.lua` answers behind "done"."""
        answer = await self._ask(self._act(args=[act, PREFIX, room, *arguments]))
        reason, _, more = str(answer).partition(" ")
        if reason != "done":
            raise RefusedError(str(answer))
        return more

    async def _ask(self, coming: Any) -> Any:
        try:
            return await coming
        except (redis.RedisError, OSError) as problem:
            raise RefusedError("away") from problem

    async def _listen(self) -> None:
        """One subscription for all rooms. After a gap, what was missed is read from Redis."""
        try:
            async with self._redis.pubsub() as ear:
                await ear.psubscribe(f"{CHANNEL}*")
                await self._hear(ear)  # that it is so: only then is nothing missed
                self.is_well = True
                for room in list(self.audience.rooms):
                    await self._catch_up(room)
                while True:
                    heard = await self._hear(ear)
                    if heard["type"] == "pmessage":
                        await self._pass_on(heard["channel"].removeprefix(CHANNEL), heard["data"])
        finally:
            if self.is_well:
                self.is_well = False
                for room in self.audience.rooms:
                    self.audience.tell(room, "away")

    @staticmethod
    async def _hear(ear: Any) -> dict[str, Any]:
        """The next that is heard. A connection that is dead says nothing, also when it is asked."""
        heard = await ear.get_message(timeout=QUIET)
        if heard is None:
            await ear.ping()
            heard = await ear.get_message(timeout=PATIENCE)
        if heard is None:
            raise redis.TimeoutError
        return dict(heard)

    async def _pass_on(self, room: str, data: str) -> None:
        """What another process says; it may be of another version, and somebody else may be it."""
        if room not in self.audience.rooms:
            return
        try:
            said = json.loads(data) if len(data) <= LONGEST_SAID else None
        except (ValueError, RecursionError):
            said = None
        match said:
            case {"kind": "followers", "process": str(process), "text": int(followers)}:
                now = asyncio.get_running_loop().time()
                self._others.setdefault(room, {})[process] = now, followers
                self.audience.soon(room, self._report)
            case {"kind": "votes", "text": str(question)} if QUESTION.fullmatch(question):
                self._changed.setdefault(room, set()).add(question)
                self.audience.soon(room, self._recount)
            case {"kind": "opened"}:
                await self._sit_all(room)
            case {"kind": "over"}:
                self._forget(room)
                self.audience.tell(room, "over")
            case {"kind": "at" | "handed" as kind, "text": str(text)}:
                self.audience.tell(room, kind, text)
            case _:
                self._skipped.warn("A message on the board could not be read and was skipped.")

    async def _catch_up(self, room: str) -> None:
        """Redis was away, or is another one now: then the lecturer has to say it again."""
        self.audience.tell(room, "room", room)
        await self._sit_all(room)
        text = await self._redis.hget(f"{PREFIX}room:{room}", "text")
        if text:
            self.audience.tell(room, "at", text)
            await self._count_votes(room)
        else:
            self.audience.tell(room, "lost", lecturers_only=True)

    def _recount(self, room: str) -> None:
        """Once for all votes of a moment, and only where a lecturer sees it."""
        questions = self._changed.pop(room, set())
        if any(one.is_lecturer for one in self.audience.rooms.get(room, ())):
            self._do(self._ask(self._count_votes(room, questions)))

    def _do(self, act: Coroutine[Any, Any, None]) -> None:
        """Do it meanwhile. Where Redis is away, all is counted when it is back."""

        async def try_to() -> None:
            with contextlib.suppress(RefusedError):
                await act

        task = asyncio.create_task(try_to())
        self._doing.add(task)  # or nobody would hold it
        task.add_done_callback(self._doing.discard)

    async def _count_votes(self, room: str, questions: Iterable[str] = ()) -> None:
        for question in questions or await self._redis.smembers(f"{PREFIX}questions:{room}"):
            votes = await self._redis.hvals(f"{PREFIX}votes:{room}:{question}")
            counts = [votes.count(str(option)) for option in range(OPTIONS)]
            self._votes.setdefault(room, {})[question] = counts
        self.audience.soon(room, self._report)

    def _count_followers(self, room: str) -> int:
        latest = asyncio.get_running_loop().time() - FORGET_AFTER
        others = {p: n for p, (at, n) in self._others.get(room, {}).items() if at > latest}
        return sum({**others, self._process: self.audience.count_followers(room)}.values())

    def _report(self, room: str) -> None:
        count = write_count(self._count_followers(room), self._votes.get(room, {}))
        self.audience.tell(room, "count", count, lecturers_only=True)

    def _announce(self, room: str) -> None:
        """Let all processes know how many follow in this one."""
        followers = self.audience.count_followers(room)
        if room not in self.audience.rooms:
            self._forget(room)
        said = {"kind": "followers", "process": self._process, "text": followers}
        self._do(self._publish(room, followers, json.dumps(said)))

    async def _publish(self, room: str, followers: int, said: str) -> None:
        if followers:
            kept = self._redis.set(f"{PREFIX}followed:{room}", 1, px=int(1000 * FORGET_AFTER))
            await self._ask(kept)
        await self._ask(self._redis.publish(f"{CHANNEL}{room}", said))

    def _forget(self, room: str) -> None:
        self._others.pop(room, None)
        self._votes.pop(room, None)
        self._changed.pop(room, None)

    async def _beat(self) -> None:
        """Say again what others forget, and end the rooms whose time is over.

        A room that is missing may be one that Redis has forgotten, and whose lecturer is about to
        open it again: it is over when it is still missing at the next beat.
        """
        missing: set[str] = set()
        while True:
            await asyncio.sleep(min(BEAT, self.limits.seconds))
            missed, missing = missing, set()
            for room in list(self.audience.rooms):
                self._announce(room)
                await self._sit_all(room)
                with contextlib.suppress(RefusedError):
                    if not await self._ask(self._redis.exists(f"{PREFIX}room:{room}")):
                        missing.add(room)
            for room in missing & missed:
                self._forget(room)
                self.audience.tell(room, "over")
