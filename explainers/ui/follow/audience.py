"""Who listens to a lecture in this process, an open stream each; and what must go on meanwhile."""

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import Callable, Coroutine
from typing import Any

LOG = logging.getLogger(__name__)
COUNT_AFTER = 0.1
"""Seconds: ten times a second are enough for bars that grow."""
FIRST_WAIT, LONGEST_WAIT, LOG_AGAIN = 0.1, 1.0, 60.0
"""Seconds: before what has ended is begun anew, at first and later; before it is logged again."""


class Seldom:
    """Logs what may happen a thousand times in a second: at most once a minute, and how often."""

    def __init__(self) -> None:
        self._count, self._last = 0, -LOG_AGAIN

    def warn(self, text: str) -> None:
        """Log it, or count it for the next time."""
        self._count += 1
        if time.monotonic() - self._last >= LOG_AGAIN:
            LOG.warning("%s (%d of this kind)", text, self._count)
            self._count, self._last = 0, time.monotonic()


class Background:
    """Tasks that never end. One that does end, by an error or killed, is begun anew, and said."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._waits: dict[str, float] = {}
        self._log = Seldom()

    def begin(self, act: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do it from now on; its name says what it is."""
        name, begun = act.__name__, time.monotonic()

        def begin_again(ended: asyncio.Task[None]) -> None:
            if self._tasks.get(name) is not ended:
                return  # it was told to stop
            # What an error says may be what somebody has typed.
            why = "killed" if ended.cancelled() else type(ended.exception()).__name__
            self._log.warn(f"The task {name} has ended ({why}) and is begun anew.")
            is_first = time.monotonic() - begun > LONGEST_WAIT
            wait = FIRST_WAIT if is_first else self._waits.get(name, FIRST_WAIT)
            self._waits[name] = min(2 * wait, LONGEST_WAIT)
            asyncio.get_running_loop().call_later(wait, begin_unless_stopped)

        def begin_unless_stopped() -> None:
            if name in self._tasks:
                self.begin(act)

        self._tasks[name] = asyncio.create_task(act(), name=name)
        self._tasks[name].add_done_callback(begin_again)

    def stop(self) -> None:
        """End them all."""
        tasks, self._tasks = self._tasks, {}
        for task in tasks.values():
            task.cancel()


class Listener:
    """One open stream. It keeps the newest of each kind only: a slow phone costs no memory."""

    def __init__(self, is_lecturer: bool, ballot: str = "", group: str = "") -> None:
        self.is_lecturer, self.ballot, self.group = is_lecturer, ballot, group
        self.name, self.is_seated = secrets.token_hex(8), False
        self.news: dict[str, str] = {}
        self._woken = asyncio.Event()

    def tell(self, kind: str, text: str) -> None:
        """Put something up; it replaces what was told of that kind and not heard."""
        self.news.pop(kind, None)  # what was told last is heard last
        self.news[kind] = text
        self._woken.set()

    def give(self, ballot: str) -> None:
        """The word by which votes of this stream count."""
        self.ballot, self.is_seated = ballot, True
        self.tell("ballot", ballot)

    def wake(self) -> None:
        """Let `hear` return, with or without news."""
        self._woken.set()

    async def hear(self, seconds: float) -> dict[str, str]:
        """Kind → text of what is new; nothing after so many seconds without news."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        self._woken.clear()
        news, self.news = self.news, {}
        return news


class Audience:
    """Who listens in this process, by room."""

    def __init__(self) -> None:
        self.rooms: dict[str, set[Listener]] = {}
        self._counting: set[tuple[str, str]] = set()

    def add(self, room: str, listener: Listener) -> None:
        """Have a listener in a room, and tell it the room's whole name."""
        self.rooms.setdefault(room, set()).add(listener)
        listener.tell("room", room)

    def remove(self, room: str, listener: Listener) -> None:
        """Forget a listener, and the room with its last one."""
        listeners = self.rooms.get(room, set())
        listeners.discard(listener)
        if not listeners:
            self.rooms.pop(room, None)

    def count_followers(self, room: str) -> int:
        """How many follow here, lecturers left out."""
        return sum(not one.is_lecturer for one in self.rooms.get(room, ()))

    def tell(self, room: str, kind: str, text: str = "", lecturers_only: bool = False) -> None:
        """Tell everybody in a room."""
        for listener in self.rooms.get(room, ()):
            if listener.is_lecturer or not lecturers_only:
                listener.tell(kind, text)

    def dismiss(self) -> None:
        """Tell everybody that this process ends; another one may take over."""
        for room in self.rooms:
            self.tell(room, "bye")

    def soon(self, room: str, count: Callable[[str], None]) -> None:
        """Count once for all that happens in the next moment."""

        def now() -> None:
            self._counting.discard(what)
            count(room)

        what = room, count.__name__
        if what not in self._counting:
            self._counting.add(what)
            asyncio.get_running_loop().call_later(COUNT_AFTER, now)
