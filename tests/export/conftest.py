"""Files in a browser: from a folder, and from a plain server."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_said):
        """Nobody reads it."""


@pytest.fixture
def served(tmp_path):
    """A plain server of a folder: its address, and the folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", tmp_path
    server.shutdown()
    server.server_close()


@pytest.fixture
def quiet_page(browser):
    """A page and what it said and asked for that it should not."""
    with browser.new_context(viewport={"width": 1280, "height": 900}, locale="en") as visitor:
        page = visitor.new_page()
        page.faults, page.asked = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("console", lambda told: page.faults.append(told.text))
        yield page
