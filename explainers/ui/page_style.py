"""The style of all pages, sent with the page itself, so that nothing moves when it comes later.

It stands at the end of the body, after what Streamlit puts into the head: of equals the last wins.
"""

import gzip
from functools import lru_cache
from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
            if message["type"] == "http.response.start" and _is_page(message):
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


def _is_page(start: Message) -> bool:
    headers = MutableHeaders(raw=start["headers"])
    return start["status"] == 200 and headers.get("content-type", "").startswith("text/html")


@lru_cache(maxsize=2)
def add_style(page: bytes, is_packed: bool) -> bytes:
    """The page with `page_style.css`, packed as it came."""
    style = Path(__file__).with_name("page_style.css").read_bytes()
    styled = (gzip.decompress(page) if is_packed else page).replace(
        END, b"<style>" + style + b"</style>" + END
    )
    return gzip.compress(styled, mtime=0) if is_packed else styled
