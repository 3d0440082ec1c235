"""The app for the world: `python -m explainers.ui.server` serves it on $PORT, and logs little."""

import asyncio
import errno
import functools
import importlib
import logging
import os
import pkgutil
import socket
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import uvicorn
from starlette.requests import HTTPConnection
from starlette.types import Message, Receive, Scope, Send
from streamlit import config
from streamlit.web import cli
from uvicorn.middleware.proxy_headers import _TrustedHosts
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

import explainers.chapters
from app import app
from explainers.folders import ROOT
from explainers.ui.follow.routes import read_base
from explainers.ui.limits import AGAIN, MANY_HERE, find_address

WARM = "ATTENTION_WARM"
"""The environment's name for the wish to listen only when everything is imported."""
LAST_WORDS = 5
"""Seconds that a browser has to say goodbye to a server that ends."""
LONGEST_SILENCE = 10
"""Seconds for all headers of a request, and then between two parts of its body."""
MOST_CONNECTIONS = 1200
"""Of one address, as in `deploy/nginx.conf`; fewer where the system allows few files."""
HEALTH = "/_stcore/health"
REFUSAL = (
    "HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain; charset=utf-8\r\n"
    f"Content-Length: {len(MANY_HERE)}\r\nRefresh: {AGAIN}\r\nConnection: close\r\n\r\n{MANY_HERE}"
).encode()


def read_settings() -> None:
    """Take Streamlit's settings from the environment: it reads them where its command is used.

    And from a home directory, which some hosts do not give to a user.
    """
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = str(ROOT)
    try:
        asked = cli.main_run.make_context("run", ["app.py"])
    except cli.click.ClickException as problem:
        sys.exit(problem.format_message())
    for name, value in asked.params.items():
        if asked.get_parameter_source(name) is cli.click.core.ParameterSource.ENVIRONMENT:
            config.set_option(name.replace("_", ".", 1), value)


def take_port() -> list[socket.socket]:
    """The port that the environment names; a sentence, and the end, where it cannot be had.

    IPv4 and IPv6 have a socket each: of one for both, visitors' addresses would be of a third kind.
    """
    port = os.environ.get("PORT") or str(config.get_option("server.port"))
    if not (port.isascii() and port.isdecimal()) or not 0 < int(port) < 2**16:
        sys.exit(f"PORT is “{port}”, which is not the number of a port.")
    named = config.get_option("server.address")
    taken = []
    for host in [named] if named else ["0.0.0.0", "::"]:  # noqa: S104 - a container is reached from outside
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            taken.append(socket.create_server((host, int(port)), family=family))
        except OSError as problem:
            if host == "::" and not named and problem.errno != errno.EADDRINUSE:
                continue  # a machine without IPv6
            why = str(problem.strerror).partition(" (")[0]  # Python adds the address
            sys.exit(f"Port {port}: {why}. Set PORT to another one.")
    return taken


def allow_connections() -> int:
    """How many of one address may be open: at most half of the files, so that others find some."""
    try:
        import resource  # only where there are such limits
    except ImportError:
        return MOST_CONNECTIONS
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MOST_CONNECTIONS if files < 0 else min(MOST_CONNECTIONS, files // 2)


read_proxies = functools.cache(_TrustedHosts)


class PatientHttp(HttpToolsProtocol):
    """Hangs up on who does not say what is wanted, and on an address with too many connections.

    Uvicorn waits for ever. Proxies that are believed hold the connections of many visitors, and
    count themselves. What has become a websocket is counted by `Limits`.
    """

    waiting: asyncio.TimerHandle | None = None
    address: str | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.opened: Counter[str] = vars(self.server_state).setdefault("opened", Counter())
        if (self.client or [""])[0] not in read_proxies(str(self.config.forwarded_allow_ips)):
            self.address = find_address(HTTPConnection({"type": "http", "client": self.client}))
            self.opened[self.address] += 1
        if self.address and self.opened[self.address] > allow_connections():
            transport.write(REFUSAL)
            transport.close()
        else:
            self._wait()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._wait()

    def on_headers_complete(self) -> None:
        self._wait()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._wait()
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._stop_waiting()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self._leave()
        super().handle_websocket_upgrade()

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._stop_waiting()
        self.waiting = self.loop.call_later(LONGEST_SILENCE, self._hang_up)

    def _stop_waiting(self) -> None:
        if self.waiting:
            self.waiting.cancel()

    def _hang_up(self) -> None:
        if self.flow.read_paused:  # it is the app that has not taken what came
            self._wait()
        else:
            self.transport.close()

    def _leave(self) -> None:
        self._stop_waiting()
        if self.address is not None:
            self.opened[self.address] -= 1
            if not self.opened[self.address]:
                del self.opened[self.address]
            self.address = None


def import_chapters() -> None:
    """Import all that pages need, and PyTorch with it, which the first visitor else waits for."""
    folders = explainers.chapters.__path__
    for module in pkgutil.walk_packages(folders, "explainers.chapters."):
        importlib.import_module(module.name)


async def serve_prepared(scope: Scope, receive: Receive, send: Send) -> None:
    """The app, which may begin to listen when it can draw a page at once.

    Other replicas serve meanwhile: a visitor of theirs is never sent to one that is still cold.
    Below whatever path the pages are, a host's probe asks at the root.
    """

    async def tell(message: Message) -> None:
        if message["type"] == "lifespan.startup.complete":
            await asyncio.to_thread(import_chapters)
        await send(message)

    if scope["type"] == "lifespan":
        return await app(scope, receive, tell if os.environ.get(WARM) == "1" else send)
    if scope["path"] == HEALTH:
        scope = {**scope, "path": read_base() + HEALTH}
    return await app(scope, receive, send)


def serve() -> None:
    """Serve until the process is told to end."""
    read_settings()
    # What readers type is in the URL, and not for the log. Streamlit revives `access_log=False`.
    logging.getLogger("uvicorn.access").disabled = True
    config.set_option("server.fileWatcherType", "none")  # what is served does not change
    ping = config.get_option("server.websocketPingInterval")
    settings = uvicorn.Config(
        serve_prepared,
        http=PatientHttp,
        log_config=None,  # Streamlit sets up the logs
        ws_ping_interval=ping,
        ws_ping_timeout=ping,
        timeout_graceful_shutdown=LAST_WORDS,
        # What Streamlit would refuse when it has all of it.
        ws_max_size=config.get_option("server.maxWidgetStateSize") * 2**20,
    )
    uvicorn.Server(settings).run(sockets=take_port())


if __name__ == "__main__":
    serve()
