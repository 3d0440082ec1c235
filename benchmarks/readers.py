"""What readers ask a server for: minutes that were played in a browser, and are played again.

The script is ours: most of what a reader does is done in the picture, then what stands below is
looked at, a card is opened, and the next page is gone to. What of it comes to the server is
recorded from the product, and sent by sessions without a browser, act by act.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from playwright.sync_api import Page, WebSocket
from streamlit.proto.BackMsg_pb2 import BackMsg

from benchmarks.browser import LIMIT, chromium, visit
from benchmarks.sessions import Run, Session

EVERY = 2.0
"""Seconds from one act to the next."""
CHOSEN_FIRST, CHOSEN_LATER = 14, 10
OPENS = 0
READY = """() => {
  const { testScriptState: script } = document.querySelector('[data-testid=stApp]')?.dataset ?? {};
  const picture = document.querySelector('.st-key-hero [data-testid=stBidiComponentIsolated]');
  return script === 'notRunning' && picture?.shadowRoot?.querySelector('.hero[aria-label]');
}"""
PAGES = "", "query_key_value", "scores", "masks", "many_heads", "shared_heads"
"""Those whose picture is about one word of the sentence, which is what is chosen."""


def choose(page: Page, turn: int) -> None:
    """Another word of the picture, and it stays in sight."""
    words = page.locator(".st-key-hero .hero .words button")
    words.nth((3 * turn + 1) % words.count()).click()


def look_below(page: Page, _turn: int) -> None:
    """One screen down."""
    page.mouse.move(640, 450)
    page.mouse.wheel(0, 900)


def go_up(page: Page, _turn: int) -> None:
    """Back to the picture."""
    page.mouse.wheel(0, -20_000)


def open_card(page: Page, _turn: int) -> None:
    """The first card of "Go deeper"."""
    page.locator(".st-key-go-deeper summary").first.click()


def go_on(page: Page, _turn: int) -> None:
    """To the next page."""
    page.locator(".st-key-way-on button").click()


ACTS: tuple[Callable[[Page, int], None], ...] = (
    *(choose,) * CHOSEN_FIRST,
    *(look_below, open_card, go_up),
    *(choose,) * CHOSEN_LATER,
    *(look_below, go_up, go_on),
)


class Message(NamedTuple):
    """What a browser sent, and in which act: `OPENS`, or 1 for the first of `ACTS`."""

    act: int
    content: bytes


def record(address: str, pages: Sequence[str] = PAGES) -> dict[str, list[Message]]:
    """Play the script on each page, side by side in one browser; by page, what asked for a run."""
    recorded: dict[str, list[Message]] = {page: [] for page in pages}
    act = OPENS

    def listen(into: list[Message]) -> Callable[[WebSocket], None]:
        def hear(frame: bytes | str) -> None:
            sent = frame if isinstance(frame, bytes) else frame.encode()
            if BackMsg.FromString(sent).WhichOneof("type") == "rerun_script":
                into.append(Message(act, sent))

        return lambda socket: socket.on("framesent", hear)

    with ExitStack() as stack:
        browser = stack.enter_context(chromium())
        tabs = {}
        for page in pages:
            tab = tabs[page] = stack.enter_context(visit(browser, "about:blank", is_still=True))
            tab.on("websocket", listen(recorded[page]))
            tab.goto(f"{address}/{page}?predict=false", wait_until="commit")
            tab.wait_for_function(READY, timeout=LIMIT)
        for act, play in enumerate(ACTS, OPENS + 1):
            due = time.monotonic() + EVERY
            for tab in tabs.values():
                play(tab, act)
            for tab in tabs.values():  # what is late still belongs to this act
                tab.wait_for_timeout(max(0.0, 1000 * (due - time.monotonic())))
    return recorded


async def replay(
    session: Session, messages: Sequence[Message], begin: float, note: Callable[[float, Run], None]
) -> None:
    """Send each message when its act is due; `note` hears how long after that its run ended."""
    for message in messages:
        due = begin + EVERY * (message.act - OPENS)
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        part = BackMsg.FromString(message.content).rerun_script.fragment_id
        if part and part not in session.fragments:  # the page was left: nothing runs
            await session.socket.send(message.content)
            continue
        run = await session.say(message.content)
        note(time.perf_counter() - due, run)
