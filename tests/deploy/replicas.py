"""Two replicas of the app behind nginx, as `deploy/` has them, and visitors without browsers."""

import contextlib
import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from http.cookies import SimpleCookie
from typing import Any, NamedTuple

from benchmarks.browser import ROOT, wait_until_healthy
from tests.support.waiting import wait

NGINX = shutil.which("nginx") or ""
DEPLOY = ROOT / "deploy"
NAMES = "app-1", "app-2"
SERVER = (sys.executable, "-m", "explainers.ui.server")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


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


class Answer(NamedTuple):
    """What came back for a request."""

    status: int
    headers: http.client.HTTPMessage
    text: bytes


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
        """The answer to a request from an address of this machine."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, 20, (source, 0))
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, named)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return Answer(answer.status, answer.headers, text)


def read_seat(headers):
    """The replica that a cookie names, or nothing."""
    cookies = SimpleCookie("; ".join(headers.get_all("Set-Cookie") or ()))
    return cookies["replica"].value if "replica" in cookies else ""
