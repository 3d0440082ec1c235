"""From a lecturer's message to the followers: on open streams, in their sessions, and on screens.

Followers of the first kind are open streams and nothing else; of the second, real sessions of the
app, without a browser, that all are sent to another page; of the third, tabs of a browser.
"""

import asyncio
import json
import secrets
import time
import urllib.request
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import psutil
from playwright.sync_api import Browser, Page

from benchmarks import report
from benchmarks.browser import LIMIT, ROOT, chromium, find_server, server, wait_until_healthy
from benchmarks.sessions import Session, connect

MESSAGES, EVERY = 40, 0.25
"""That a lecturer sends, and seconds between two."""
SESSIONS = 10, 25, 50
SPREAD, REST_SPREAD = 1.5, 9.0
"""Seconds over which browsers ask for a new page, and later for the rest of it: follower.js."""
FOLLOWS = "lecture=true&follow=aaaaaaaaaaaaaaaa"
"""What the address of a follower says."""
TABS, STEPS = 3, 12
OPEN_LECTURE = "() => globalThis.attentionLecture?.at >= 0 && attentionLecture.isComplete()"
NOW = "performance.timeOrigin + performance.now()"
PRESSED = f"addEventListener('keydown', () => {{ globalThis.pressed = {NOW}; }}, true)"
PAINTED = f"""(at) => {{ globalThis.painted = new Promise((done, fail) => {{
  const look = () => attentionLecture.at === at
    ? requestAnimationFrame(() => setTimeout(() => done({NOW}))) : setTimeout(look, 4);
  setTimeout(() => fail(new Error("the screen did not come")), {LIMIT});
  look();
}}); }}"""
"""When a key was pressed and a screen had been painted, in milliseconds since 1970."""


class Lecturer:
    """Somebody who leads a room, without a browser."""

    def __init__(self, address: str) -> None:
        self.address, self.secret = address, secrets.token_urlsafe(32)
        self.room = self._post("lead", {"address": address})["room"]
        self.number = 0

    def say(self, page: str, query: str, screen: int) -> None:
        """Be there."""
        self.number += 1
        place = {"page": page, "query": query, "screen": screen, "step": 0, "round": 0}
        self._post(f"lead/{self.room}", {"number": self.number, **place})

    def _post(self, path: str, said: dict[str, object]) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.secret}"}
        asked = urllib.request.Request(f"{self.address}/{path}", json.dumps(said).encode(), headers)
        with urllib.request.urlopen(asked) as answer:
            return json.load(answer)


async def hear(address: str, room: str, heard: dict[int, list[float]]) -> None:
    """Follow, and note when each message comes."""
    host, port = address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET /follow/{room} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    while line := await reader.readline():
        if line.startswith(b'data: {"number"'):
            number = json.loads(line.removeprefix(b"data: "))["number"]
            heard.setdefault(number, []).append(time.time())


async def measure_streams(address: str, followers: int) -> str:
    """A row: `followers` open streams hear of `MESSAGES` steps."""
    lecturer = Lecturer(address)
    heard: dict[int, list[float]] = {}
    listening = [asyncio.create_task(hear(address, lecturer.room, heard)) for _ in range(followers)]
    await asyncio.sleep(2)
    said = {}
    for screen in range(MESSAGES):
        said[lecturer.number + 1] = time.time()
        await asyncio.to_thread(lecturer.say, "scores", "lecture=true", screen)
        await asyncio.sleep(EVERY)
    await asyncio.sleep(1)
    for task in listening:
        task.cancel()
    late = [at - said[number] for number, times in heard.items() for at in times]
    lost = MESSAGES * followers - len(late)
    return f" {followers} open streams, a step | {report.quantiles(late, 0.5, 0.95)} | {lost} lost "


@asynccontextmanager
async def open_sessions(address: str, count: int) -> AsyncIterator[list[Session]]:
    """Sessions that have drawn a page in front of a class, one after the other."""
    async with AsyncExitStack() as stack:
        sessions = []
        for _ in range(count):
            sessions.append(await stack.enter_async_context(connect(address)))
            await sessions[-1].open("scores", FOLLOWS)
        yield sessions


async def measure_sessions(address: str, count: int, process: psutil.Process) -> list[str]:
    """Rows: all sessions go to another page, spread as browsers do, and all at once."""
    rows = []
    async with open_sessions(address, count) as sessions:
        for page, spread in [("masks", SPREAD), ("scores", SPREAD), ("masks", 0.0)]:

            async def go(session: Session, delay: float, page: str = page) -> float:
                await asyncio.sleep(delay)
                return delay + (await session.open(page, FOLLOWS, is_navigation=True)).seconds

            async def rest(session: Session, delay: float) -> float:
                await asyncio.sleep(delay)
                return (await session.rest()).seconds

            how = "spread over 1.5 s" if spread else "at once"
            for act, seconds, what in [
                (go, spread, f"a new page, {how}, the lecturer's screen"),
                (rest, REST_SPREAD, "the rest of it, spread over 9 s"),
            ]:
                before = sum(process.cpu_times()[:2])
                waits = [seconds * place / count for place in range(count)]
                late = await asyncio.gather(*map(act, sessions, waits))
                cpu = 1000 * (sum(process.cpu_times()[:2]) - before) / count
                row = report.quantiles(late, 0.5, 0.95)
                rows.append(f" {count} sessions, {what} | {row} | {cpu:.0f} ms CPU each ")
    return rows[2:]  # the first time a page is drawn, its numbers are computed


def measure_tabs(browser: Browser, address: str) -> str:
    """A row: from the lecturer's key to the screen of a follower, on the same page."""
    lecturer = open_tab(browser, f"{address}/scores?lecture=true")
    lecturer.locator(".follow-lead").wait_for()
    lecturer.wait_for_timeout(500)  # until then keys are kept for the lecture
    lecturer.keyboard.press("f")
    lecturer.locator(".follow-panel").wait_for()
    room = lecturer.evaluate("attentionFollow.leader.room")
    lecturer.keyboard.press("Escape")
    tabs = [open_tab(browser, f"{address}/?follow={room}") for _ in range(TABS)]
    for tab in tabs:
        tab.wait_for_function("() => location.pathname === '/scores'")
    lecturer.wait_for_timeout(2000)
    late = []
    for step in range(STEPS):
        at = lecturer.evaluate("attentionLecture.at")
        for tab in tabs:
            tab.evaluate(PAINTED, at - 1 if step % 2 else at + 1)
        lecturer.keyboard.press("PageUp" if step % 2 else "PageDown")
        pressed = lecturer.evaluate("pressed")
        late += [(tab.evaluate("painted") - pressed) / 1000 for tab in tabs]
        lecturer.wait_for_timeout(500)
    return f" {TABS} tabs, a step, to the painted screen | {report.quantiles(late, 0.5, 0.95)} | "


def open_tab(browser: Browser, url: str) -> Page:
    """A window with a lecture on its screen."""
    page = browser.new_context(viewport={"width": 1024, "height": 768}).new_page()
    page.set_default_timeout(3 * LIMIT)
    page.add_init_script(PRESSED)  # before the lecture listens, which keeps keys for itself
    page.goto(url)
    page.wait_for_function(OPEN_LECTURE)
    return page


def measure(followers: int) -> str:
    """The report's section."""
    with server(ROOT / "app.py", ROOT) as address:
        wait_until_healthy(address)
        process = find_server(address)
        rows = [asyncio.run(measure_streams(address, count)) for count in (50, followers)]
        for count in SESSIONS:
            rows += asyncio.run(measure_sessions(address, count, process))
        with chromium("--disable-background-timer-throttling") as browser:
            version = browser.version
            rows.append(measure_tabs(browser, address))
    return report.section(
        "Follow the lecturer",
        version,
        f"Milliseconds from the lecturer's message, or key, to a follower: {MESSAGES} messages to "
        f"open streams; sessions of the app that go to another page, which first draws what the "
        f"lecturer shows, and later the rest; and tabs of a browser. "
        f"Server, sessions and browser share the machine.",
        " followers | p50 | p95 | ",
        rows,
    )


if __name__ == "__main__":
    arguments = report.options(__doc__, 200, "followers")
    report.publish(measure(arguments.followers), arguments.write)
