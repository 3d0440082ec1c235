"""Boards to be tested: one in memory, and one at a real Redis server on a free port.

Time passes for them when a test says so, and each beat of theirs is the test's as well.
"""

import asyncio
import contextlib
import functools
import json
import shutil
import socket
import subprocess
import time
from types import SimpleNamespace
from typing import Any

import pytest

from explainers.ui.follow import board as board_in_memory
from explainers.ui.follow import redis_board
from explainers.ui.follow.board import Limits, Memory, RefusedError
from explainers.ui.follow.redis_board import PREFIX, Redis
from tests.deploy.replicas import free_port, run
from tests.support.waiting import wait

FOUND = shutil.which("redis-server") or ""
ROOM = "abcdefghijklmnop"
PATIENCE = 30
"""Seconds to wait for what comes at once on a machine of its own."""


class RedisServer:
    """A server of its own, which may be stopped and started again, empty."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.process: Any = None

    @property
    def url(self):
        return "".join(["redis", f"://127.0.0.1:{self.port}"])

    def start(self):
        command = [FOUND, "--port", str(self.port), "--save", "", "--dir", str(self.folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        wait(self._answers)

    def stop(self):
        self.process.kill()
        self.process.wait()

    def empty(self):
        assert self.ask(b"FLUSHALL") == b"+OK\r\n"

    def ask(self, *parts):
        """What it answers to somebody who is not the app."""
        said = b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
        with socket.create_connection(("127.0.0.1", self.port)) as talk:
            talk.sendall(b"*%d\r\n" % len(parts) + said)
            return talk.recv(100)

    def _answers(self):
        with contextlib.suppress(OSError):
            return self.ask(b"PING")


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory):
    if not FOUND:
        pytest.skip("There is no redis-server here, and it could not be installed.")
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.stop()


class Clock:
    """What boards take for the time."""

    def __init__(self):
        self.ahead = 0.0

    def monotonic(self):
        return time.monotonic() + self.ahead

    async def skip(self, board, seconds):
        """Let so many seconds have passed: also at Redis, which forgets after a time."""
        self.ahead += seconds
        if isinstance(board, Memory):
            return
        for key in await board._redis.keys(f"{PREFIX}*"):
            left = await board._redis.pttl(key)
            if left >= 0:  # less than none is left: it is forgotten now
                await board._redis.pexpire(key, left - int(1000 * seconds))
        for key in await board._redis.keys(f"{PREFIX}held:*"):
            for seat, until in await board._redis.zrange(key, 0, -1, withscores=True):
                await board._redis.zadd(key, {seat: until - 1000 * seconds})


class Beats:
    """The sleep of boards between two beats, which ends when the test says so."""

    def __init__(self):
        self.waiting: list[asyncio.Future[None]] = []

    async def sleep(self, _seconds):
        self.waiting.append(asyncio.get_running_loop().create_future())
        await self.waiting[-1]

    async def beat(self):
        """Let the boards that have been started beat once, to the end."""
        await until(lambda: self.waiting)
        sleeping, self.waiting = self.waiting, []
        for one in sleeping:
            if not one.done():  # by the end of its board
                one.set_result(None)
        await until(lambda: len(self.waiting) == len(sleeping))


async def until(is_so):
    async with asyncio.timeout(PATIENCE):
        while not is_so():
            await asyncio.sleep(0.005)


@pytest.fixture
def clock(monkeypatch):
    moved = Clock()
    monkeypatch.setattr(board_in_memory, "time", moved)
    return moved


@pytest.fixture
def beats(monkeypatch):
    by_hand = Beats()
    patched = SimpleNamespace(**{**vars(asyncio), "sleep": by_hand.sleep})
    for module in (board_in_memory, redis_board):
        monkeypatch.setattr(module, "asyncio", patched)
    return by_hand


@pytest.fixture
def server(redis_server):
    """A Redis server that knows nothing."""
    redis_server.empty()
    return redis_server


@pytest.fixture(params=["memory", "redis"])
def board(request):
    """What `played` makes the test's board of."""
    if request.param == "memory":
        return Memory
    return functools.partial(Redis, request.getfixturevalue("server").url)


def played(**limits):
    """A test that is played with its `board` started, which has these limits."""

    def decorate(act):
        @functools.wraps(act)
        def test(board, **fixtures):
            run(_play(board(limits=Limits(**limits)), act, fixtures))

        return test

    return decorate


async def _play(board, act, fixtures):
    await board.start()
    try:
        async with asyncio.timeout(4 * PATIENCE):
            await until(lambda: board.is_well)
            await act(board, **fixtures)
    finally:
        await board.stop()


async def open_class(board):
    await board.open_room(ROOM, "owner", "here")
    return await board.join(ROOM), await board.join(ROOM, is_lecturer=True)


async def refused(reason, attempt):
    with pytest.raises(RefusedError) as found:
        await attempt
    assert found.value.reason == reason


async def heard(listener, kind, holds=lambda said: True):
    """The next that a listener hears of a kind, and of which `holds` is true."""
    async with asyncio.timeout(PATIENCE):
        while True:
            news = await listener.hear(PATIENCE)
            if kind in news and holds(news[kind]):
                return news[kind]


async def counted(board, question="q"):
    """The votes that a lecturer who comes now sees."""
    said = json.loads(await heard(await board.join(ROOM, is_lecturer=True), "count"))
    return sum(said["votes"].get(question, ()))
