"""Boards to be tested: one in memory, and one at a real Redis server on a free port.

Time passes for them when a test says so, and each beat of theirs is the test's as well.
"""

import asyncio
import contextlib
import shutil
import socket
import subprocess
import time

import pytest

from explainers.ui.follow import board as board_in_memory
from explainers.ui.follow import redis_board
from explainers.ui.follow.board import Board, Limits, Memory
from explainers.ui.follow.redis_board import PREFIX, Redis

FOUND = shutil.which("redis-server") or ""
KINDS = ("memory", "redis")
PATIENCE = 30
"""Seconds to wait for what comes at once on a machine of its own."""


class RedisServer:
    """A server of its own, which may be stopped and started again, empty."""

    def __init__(self, folder):
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = None

    @property
    def url(self):
        return "".join(["redis", f"://127.0.0.1:{self.port}"])

    def start(self):
        command = [FOUND, "--port", str(self.port), "--save", "", "--dir", str(self.folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                return
            assert time.monotonic() < end, "Redis did not start"
            time.sleep(0.02)

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def empty(self):
        with socket.create_connection(("127.0.0.1", self.port)) as talk:
            talk.sendall(b"FLUSHALL\r\n")
            assert talk.recv(100) == b"+OK\r\n"


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
    """Wait for what others do in this loop."""
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
    for module in (board_in_memory, redis_board):
        monkeypatch.setattr(module, "asyncio", Patched(by_hand.sleep))
    return by_hand


class Patched:
    """asyncio, with another `sleep`."""

    def __init__(self, sleep):
        self.sleep = sleep

    def __getattr__(self, name):
        return getattr(asyncio, name)


@pytest.fixture(params=KINDS)
def kind(request):
    """Which board; a Redis server stands ready and empty if it needs one."""
    if request.param == "redis":
        request.getfixturevalue("redis_server").empty()
    return request.param


@pytest.fixture
def make_board(kind, request):
    """Make boards that share what they know: of the kind in memory there is only one."""
    boards: list[Board] = []

    def make(**limits):
        if kind == "memory":
            boards.append(Memory(Limits(**limits)))
        else:
            url = request.getfixturevalue("redis_server").url
            boards.append(Redis(url, Limits(**limits)))
        return boards[-1]

    return make
