"""Servers on ports of their own, and a browser that tells when a picture has been painted."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
WATCH = Path(__file__).with_name("watch.js").read_text(encoding="utf-8")
QUIET, LIMIT = 150, 20_000
"""Milliseconds without a change after which a picture is finished, and to wait for one at all."""


@contextmanager
def server(script: Path, options: Path, **environment: str) -> Iterator[str]:
    """Serve `script` with the options in `options`/.streamlit; yields its address at once."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    command += [f"--server.port={port}", "--server.address=localhost", "--server.headless=true"]
    command += ["--browser.gatherUsageStats=false"]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command,
            cwd=options,
            env={**os.environ, **environment},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            yield f"http://localhost:{port}"
        finally:
            process.terminate()
            process.wait()


def find_server(address: str) -> psutil.Process:
    """The process that listens there."""
    port = f"--server.port={address.rpartition(':')[2]}"
    return next(p for p in psutil.Process(os.getpid()).children() if port in p.cmdline())


def wait_until_healthy(address: str) -> None:
    """Return as soon as the server answers."""
    end = time.monotonic() + LIMIT / 1000
    while True:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health"):
                return
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


@contextmanager
def bare_options() -> Iterator[Path]:
    """A folder without options: Streamlit as it comes."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@contextmanager
def chromium(*options: str) -> Iterator[Browser]:
    """The system's Chromium without a window, or the one that Playwright installed."""
    names = "chromium-headless-shell", "chromium", "chromium-browser"
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found,
            args=["--no-sandbox", "--disable-gpu", "--disable-quic", *options],
        )
        yield browser
        browser.close()


@contextmanager
def visit(browser: Browser, url: str, is_still: bool = False) -> Iterator[Page]:
    """Open `url` as a visitor who was never here; the page may not be complete yet.

    One who wants things to be `is_still` sees no motion, but at once what it ends with.
    """
    with browser.new_context(
        viewport={"width": 1280, "height": 900},
        reduced_motion="reduce" if is_still else "no-preference",
    ) as visitor:
        visitor.add_init_script(WATCH)
        page = visitor.new_page()
        page.goto(url, wait_until="commit")
        yield page


def moments(page: Page) -> dict[str, float]:
    """When the title and the picture had been painted, in milliseconds since 1970."""
    return page.evaluate(f"watch.ready({LIMIT})")


def latency(page: Page, key: str, pictures: str | None = None) -> float:
    """Press a key on what has the focus; milliseconds until `pictures` had been painted anew."""
    page.evaluate("selector => watch.arm(selector)", pictures)
    page.keyboard.press(key)
    return page.evaluate(f"watch.latency({QUIET}, {LIMIT})")


def answer(page: Page, key: str, pictures: str | None = None) -> tuple[float, float]:
    """Press a key; milliseconds to the first frame that shows the change, and those of script."""
    page.evaluate("selector => watch.arm(selector)", pictures)
    page.keyboard.press(key)
    seen, script = page.evaluate(f"watch.answer({QUIET}, {LIMIT})")
    return seen, script
