"""The app for the world: `python -m explainers.ui.server` serves it on $PORT, and logs little."""

import asyncio
import importlib
import logging
import os
import pkgutil
import socket
import sys
from pathlib import Path

import uvicorn
from starlette.types import Message, Receive, Scope, Send
from streamlit import config

import explainers.chapters
from app import app
from explainers.folders import ROOT

WARM = "ATTENTION_WARM"
"""The environment's name for the wish to listen only when everything is imported."""
LAST_WORDS = 5
"""Seconds that a browser has to say goodbye to a server that ends."""


def settle_home() -> None:
    """Have a home directory: Streamlit looks for settings there. Some hosts give a user none."""
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = str(ROOT)


def take_port() -> socket.socket:
    """The port that the environment names; a sentence, and the end, where it cannot be had."""
    port = os.environ.get("PORT") or "8501"
    if not (port.isascii() and port.isdecimal()) or not 0 < int(port) < 2**16:
        sys.exit(f"PORT is “{port}”, which is not the number of a port.")
    taken = socket.socket()
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind(("0.0.0.0", int(port)))  # noqa: S104 - a container is reached from outside
    except OSError as problem:
        sys.exit(f"Port {port}: {problem.strerror}. Set PORT to another one.")
    return taken


def import_chapters() -> None:
    """Import all that pages need, and PyTorch with it, which the first visitor else waits for."""
    folders = explainers.chapters.__path__
    for module in pkgutil.walk_packages(folders, "explainers.chapters."):
        importlib.import_module(module.name)


async def serve_prepared(scope: Scope, receive: Receive, send: Send) -> None:
    """The app, which begins to listen when it can draw a page at once.

    Other replicas serve meanwhile: a visitor of theirs is never sent to one that is still cold.
    """

    async def tell(message: Message) -> None:
        if message["type"] == "lifespan.startup.complete":
            await asyncio.to_thread(import_chapters)
        await send(message)

    await app(scope, receive, tell if scope["type"] == "lifespan" else send)


def serve() -> None:
    """Serve until the process is told to end."""
    settle_home()
    # What readers type is in the URL, and not for the log. Streamlit revives `access_log=False`.
    logging.getLogger("uvicorn.access").disabled = True
    config.set_option("server.fileWatcherType", "none")  # what is served does not change
    ping = config.get_option("server.websocketPingInterval")
    settings = uvicorn.Config(
        serve_prepared if os.environ.get(WARM) == "1" else app,
        log_config=None,  # Streamlit sets up the logs
        ws_ping_interval=ping,
        ws_ping_timeout=ping,
        timeout_graceful_shutdown=LAST_WORDS,
        # What Streamlit would refuse when it has all of it.
        ws_max_size=config.get_option("server.maxWidgetStateSize") * 2**20,
    )
    uvicorn.Server(settings).run(sockets=[take_port()])


if __name__ == "__main__":
    serve()
