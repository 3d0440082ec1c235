"""Boards to be tested: one in memory, and one at a real Redis server on a free port."""

import contextlib
import shutil
import socket
import subprocess
import time

import pytest

from explainers.ui.follow.board import Board, Limits, Memory
from explainers.ui.follow.redis_board import Redis

FOUND = shutil.which("redis-server") or ""
KINDS = ("memory", "redis")


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
        end = time.monotonic() + 20
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
