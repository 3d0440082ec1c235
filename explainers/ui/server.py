"""The app for the world: `python -m explainers.ui.server` serves it on $PORT, with safe headers."""

import logging
import os
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import streamlit as st
import uvicorn
from streamlit import config

from explainers.folders import ROOT
from explainers.ui import browser_files

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Message, Receive, Send], Awaitable[None]]

HEADERS = (
    # A Space is shown in a frame of huggingface.co; nobody else may frame the app.
    (
        b"content-security-policy",
        b"frame-ancestors 'self' https://huggingface.co https://*.hf.space",
    ),
    (b"x-content-type-options", b"nosniff"),
)
KEEP = b"cache-control", b"public, max-age=31536000, immutable"
"""For files whose address changes with them. Streamlit itself does not say for how long."""


def add_headers(asgi_app: AsgiApp) -> AsgiApp:
    """Add `HEADERS` to every HTTP response, errors included; websockets pass as they are.

    The scripts and styles of the app's own components may be kept by the browser.
    """

    async def answer(scope: Message, receive: Receive, send: Send) -> None:
        async def send_more(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message["headers"], *HEADERS]
                if message["status"] == 200 and browser_files.is_our_file(scope["path"]):
                    headers = [*((n, v) for n, v in headers if n != KEEP[0]), KEEP]
                message["headers"] = headers
            await send(message)

        await asgi_app(scope, receive, send_more)

    return answer


app = add_headers(st.App(ROOT / "app.py"))

if __name__ == "__main__":
    # What readers type is in the URL, and not for the log. Streamlit revives `access_log=False`.
    logging.getLogger("uvicorn.access").disabled = True
    config.set_option("server.fileWatcherType", "none")  # what is served does not change
    uvicorn.run(
        app,
        host="0.0.0.0",  # noqa: S104 - a container is reached from outside
        port=int(os.environ.get("PORT", "8501")),
        log_config=None,  # Streamlit sets up the logs
    )
