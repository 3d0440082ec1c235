"""Who listens to a lecture in this process: an open stream each."""

import asyncio
import contextlib
from collections.abc import Callable

COUNT_AFTER = 0.1
"""Seconds: ten times a second are enough for bars that grow."""


class Listener:
    """One open stream. It keeps the newest of each kind only: a slow phone costs no memory."""

    def __init__(self, is_lecturer: bool) -> None:
        self.is_lecturer = is_lecturer
        self.news: dict[str, str] = {}
        self._woken = asyncio.Event()

    def tell(self, kind: str, text: str) -> None:
        """Put something up; it replaces what was told of that kind and not heard."""
        self.news.pop(kind, None)  # what was told last is heard last
        self.news[kind] = text
        self._woken.set()

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
        self._counting: set[str] = set()

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
            self._counting.discard(room)
            count(room)

        if room not in self._counting:
            self._counting.add(room)
            asyncio.get_running_loop().call_later(COUNT_AFTER, now)
