"""Two replicas of the app behind nginx, as `deploy/` has them, and visitors without browsers."""

import asyncio
import contextlib
import http.client
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from http.cookies import SimpleCookie
from typing import Any, NamedTuple

import uvicorn

from benchmarks.browser import ROOT, wait_until_healthy
from tests.support.waiting import PATIENCE, wait

NGINX = shutil.which("nginx") or ""
DEPLOY = ROOT / "deploy"
NAMES = "app-1", "app-2"
SERVER = (sys.executable, "-m", "explainers.ui.server")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(act):
    """In a thread: where a browser has been driven before, this one has a loop that runs."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, act).result()


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    text: bytes


def ask(
    port, path, method="GET", body=None, headers=None, source="127.0.0.1", timeout=PATIENCE
) -> Answer:
    """The answer of a server of this machine to a request from one of its addresses."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout, (source, 0))
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    told = Answer(answer.status, answer.headers, answer.read())
    connection.close()
    return told


@contextlib.contextmanager
def serve_in_thread(app, **options):
    """An app that is no process of its own; yields its server."""
    settings = uvicorn.Config(app, port=free_port(), timeout_graceful_shutdown=1, **options)
    server = uvicorn.Server(settings)
    logging.getLogger("uvicorn.access").disabled = True  # pytest would keep every line
    thread = threading.Thread(target=server.run)
    thread.start()
    wait(lambda: server.started)
    try:
        yield server
    finally:
        server.should_exit = True
        thread.join()


class Replica:
    """A process of the app, which may be killed and started again on its port."""

    def __init__(self, log, command=SERVER, **environment):
        self.port, self.log, self.command = free_port(), log, command
        port = "STREAMLIT_SERVER_PORT" if "streamlit" in command else "PORT"
        self.environment = {**os.environ, port: str(self.port), **environment}
        self.address = f"http://localhost:{self.port}"
        self.process: Any = None

    def start(self):
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                self.command, cwd=ROOT, env=self.environment, stdout=log, stderr=log
            )

    def wait(self):
        wait(self._is_healthy)

    def _is_healthy(self):
        with contextlib.suppress(OSError):
            wait_until_healthy(self.address)
            return True

    def stop(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        self.process.wait(20)


@contextlib.contextmanager
def serve(log, command=SERVER, **environment):
    """The app in a process of its own, for as long as a test needs it."""
    one = Replica(log, command, **environment)
    one.start()
    try:
        one.wait()
        yield one
    finally:
        one.stop()


class Proxy:
    """nginx with the configuration that is shipped; only where things are is of the test."""

    def __init__(self, folder, replicas):
        self.folder, self.port, self.log = folder, free_port(), folder / "log"
        self.replicas = replicas
        shipped = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
        assert shipped.count("listen 8080;") == 1
        listening = shipped.replace("listen 8080;", f"listen 127.0.0.1:{self.port};")
        (folder / "nginx.conf").write_text(listening, encoding="utf-8")
        table = (DEPLOY / "replicas.conf").read_text(encoding="utf-8")
        for name in NAMES:
            here = f"server 127.0.0.1:{replicas[name].port};"
            assert f"server {name}:8501 resolve;" in table
            table = table.replace(f"server {name}:8501 resolve;", here)
        # Addresses of processes do not change, and Debian's nginx could not follow them.
        table = re.sub(r"^resolver .*\n", "", table, flags=re.MULTILINE)
        (folder / "replicas.conf").write_text(table, encoding="utf-8")

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        command = [NGINX, "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")]
        if os.geteuid() == 0:  # else it would become somebody who may not see the folder
            command += ["-g", "user root;"]
        with self.log.open("a") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        wait(self._listens)

    def _listens(self):
        assert self.process.poll() is None, self.log.read_text()
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
            return True

    def stop(self):
        self.process.terminate()
        self.process.wait(20)

    def ask(self, path, method="GET", body=None, source="127.0.0.1", **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return ask(self.port, path, method, body, named, source)


def read_seat(headers: Any) -> str:
    """The replica that a cookie names, or nothing."""
    cookies = SimpleCookie("; ".join(headers.get_all("Set-Cookie") or ()))
    return cookies["replica"].value if "replica" in cookies else ""
