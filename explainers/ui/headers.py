"""What every answer carries: headers that say what browsers may do with it, and pages the style.

The style is sent with the page itself, so that nothing moves when it comes later. It stands at the
end of the body, after what Streamlit puts into the head: of equals the last wins.
"""

import base64
import gzip
import hashlib
import os
import re
import sys
from contextlib import suppress
from functools import lru_cache
from importlib.resources import files
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from explainers.messages import N_
from explainers.ui import browser_files
from explainers.ui.limits import answer_in_words
from explainers.ui.text.language import LANGUAGE_SCRIPT, list_languages

FRAMES = "ATTENTION_FRAME_ANCESTORS"
"""The environment's name for the sites that may show the app in a frame, between spaces."""
SPACES = "'self' https://huggingface.co https://*.hf.space"
"""A Space is shown in a frame of huggingface.co; nobody else may frame the app, if unset."""
_SITE = re.compile(r"'self'|https:/{2}(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:\d{1,5})?")
READ_FOLDERS = "ATTENTION_READ_FOLDERS"
LOCAL_ONLY = N_("This server reads files of its computer. Open it there, as localhost.")


def read_frames() -> str:
    """Who may show the app in a frame; a sentence, and the end, where that is no list of sites."""
    sites = os.environ.get(FRAMES, "").split() or SPACES.split()
    for site in sites:
        if not _SITE.fullmatch(site):
            sys.exit(f"{FRAMES}: “{site}” is neither 'self' nor a site that begins with https.")
    return " ".join(sites)


_INDEX = (files("streamlit") / "static" / "index.html").read_text(encoding="utf-8")
_INLINE = [
    base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    for script in (
        *re.findall("<script>(.*?)</script>", _INDEX, re.DOTALL),
        *(LANGUAGE_SCRIPT.format(code) for code in list_languages()),
    )
]
"""Scripts that stand in a page, Streamlit's own and ours: each is named by what it says."""
POLICY = {
    "default-src": "'none'",
    "script-src": " ".join(["'self'", *(f"'sha256-{digest}'" for digest in _INLINE)]),
    "style-src": "'self' 'unsafe-inline'",  # Streamlit and Vega style elements one by one
    "img-src": "'self' data:",
    "font-src": "'self' data:",
    "media-src": "'self' blob:",
    "connect-src": "'self' blob:",
    "worker-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'none'",
    "frame-ancestors": read_frames(),
}
"""Content security policy: nothing comes from another server, and nothing goes there."""
UNUSED = (
    "accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "hid",
    "magnetometer", "midi", "payment", "serial", "usb",
)  # fmt: skip
"""Of a device; a sound may be recorded, and a lecture fills the screen."""
HEADERS = tuple(
    (name.encode(), value.encode())
    for name, value in {
        "content-security-policy": "; ".join(f"{name} {value}" for name, value in POLICY.items()),
        "permissions-policy": ", ".join(f"{name}=()" for name in UNUSED),
        "referrer-policy": "same-origin",  # what a visitor types stands in the address
        "x-content-type-options": "nosniff",
    }.items()
)
KEEP = b"cache-control", b"public, max-age=31536000, immutable"
"""For files whose address changes with them. Streamlit itself does not say for how long."""
STARTS = {"http.response.start", "websocket.accept", "websocket.http.response.start"}


class SafeHeaders:
    """Adds `HEADERS` to every answer, also to a refused or accepted websocket.

    The scripts and styles of the app's own components may be kept by the browser.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does, with the headers."""
        is_begun = False

        async def send_more(message: Message) -> None:
            nonlocal is_begun
            if message["type"] == "websocket.close" and not is_begun:
                return await _refuse(send)
            if message["type"] in STARTS:
                is_begun = True
                headers = [*message.get("headers", ()), *HEADERS]
                is_kept = message.get("status") == 200 and browser_files.is_our_file(scope["path"])
                if is_kept:
                    browser_files.note_fetch(scope["path"])
                    headers = [*((n, v) for n, v in headers if n != KEEP[0]), KEEP]
                message["headers"] = headers
            return await send(message)

        await self.app(scope, receive, send_more)


class LocalHosts:
    """Refuses all names but this computer's own, where pages read its files.

    Else a foreign site could give its name this computer's address, and read what the app reads.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.is_needed = app, os.environ.get(READ_FOLDERS) == "1"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does, or refuse."""
        if not self.is_needed or scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        visitor = HTTPConnection(scope)
        names = [f"//{host}" for host in visitor.headers.getlist("host") or [""]]
        if all(map(_is_local, [*names, *visitor.headers.getlist("origin")])):
            return await self.app(scope, receive, send)
        refusal = answer_in_words(visitor, LOCAL_ONLY, 403)
        if scope["type"] == "websocket":
            return await WebSocket(scope, receive, send).send_denial_response(refusal)
        return await refusal(scope, receive, send)


def _is_local(address: str) -> bool:
    with suppress(ValueError):
        host = urlsplit(address).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    return False


async def _refuse(send: Send) -> None:
    """What a server says to a websocket that was not accepted, with our headers."""
    start = {"type": "websocket.http.response.start", "status": 403, "headers": list(HEADERS)}
    await send(start)
    await send({"type": "websocket.http.response.body", "body": b""})


def answer_error(_request: Request, _error: Exception) -> Response:
    """For what went wrong in the server: its answer passes by `SafeHeaders`."""
    headers = {name.decode(): value.decode() for name, value in HEADERS}
    return PlainTextResponse("Internal Server Error", 500, headers)


END = b"</body>"
UNSURE = "etag", "last-modified", "accept-ranges"
"""What is said of Streamlit's file, which stays the same when our style changes."""


class StyledPages:
    """Adds the style to Streamlit's one page, whatever address it is asked for by."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does, a page with the style."""
        if scope["type"] != "http" or scope["method"] != "GET":
            return await self.app(scope, receive, send)
        start: Message | None = None
        page = b""

        async def send_styled(message: Message) -> None:
            nonlocal start, page
            told = MutableHeaders(raw=message.get("headers", []))
            is_page = told.get("content-type", "").startswith("text/html")
            if message.get("status") == 200 and is_page:
                start = message
            elif start is None:
                await send(message)
            else:
                page += message.get("body", b"")
                if not message.get("more_body"):
                    headers = MutableHeaders(raw=start["headers"])
                    page = add_style(page, headers.get("content-encoding") == "gzip")
                    headers["content-length"] = f"{len(page)}"
                    for name in UNSURE:
                        del headers[name]
                    await send(start)
                    await send({"type": "http.response.body", "body": page})

        return await self.app(scope, receive, send_styled)


@lru_cache(maxsize=2)
def add_style(page: bytes, is_packed: bool) -> bytes:
    """The page with `page_style.css`, packed as it came."""
    style = Path(__file__).with_name("page_style.css").read_bytes()
    styled = (gzip.decompress(page) if is_packed else page).replace(
        END, b"<style>" + style + b"</style>" + END
    )
    return gzip.compress(styled, mtime=0) if is_packed else styled
