"""Headers that every answer carries: who may show the app in a frame, and what browsers keep."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explainers.ui import browser_files

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


class SafeHeaders:
    """Adds `HEADERS` to every HTTP response; websockets pass as they are.

    The scripts and styles of the app's own components may be kept by the browser.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does, with the headers."""

        async def send_more(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message["headers"], *HEADERS]
                if message["status"] == 200 and browser_files.is_our_file(scope["path"]):
                    headers = [*((n, v) for n, v in headers if n != KEEP[0]), KEEP]
                message["headers"] = headers
            await send(message)

        await self.app(scope, receive, send_more)
