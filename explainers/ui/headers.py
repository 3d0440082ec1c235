"""Headers that every answer carries: what browsers may do with it, tell others, and keep."""

import base64
import hashlib
import re
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explainers.ui import browser_files
from explainers.ui.text.language import LANGUAGE_SCRIPT, list_languages

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
    # A Space is shown in a frame of huggingface.co; nobody else may frame the app.
    "frame-ancestors": "'self' https://huggingface.co https://*.hf.space",
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


async def _refuse(send: Send) -> None:
    """What a server says to a websocket that was not accepted, with our headers."""
    start = {"type": "websocket.http.response.start", "status": 403, "headers": list(HEADERS)}
    await send(start)
    await send({"type": "websocket.http.response.body", "body": b""})


def answer_error(_request: Request, _error: Exception) -> Response:
    """For what went wrong in the server: its answer passes by `SafeHeaders`."""
    headers = {name.decode(): value.decode() for name, value in HEADERS}
    return PlainTextResponse("Internal Server Error", 500, headers)
