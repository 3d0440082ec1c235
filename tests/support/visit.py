"""A visitor of one page in a real browser: what is done there, waited for and looked at."""

import re
from collections.abc import Callable
from typing import Any, Literal
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import ConsoleMessage, Dialog, Locator, Page, WebSocket, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

LIMIT = 30_000
"""Milliseconds to wait for anything: only a failing test ever waits so long."""
expect.set_options(timeout=LIMIT)
LONGEST_END = 1_000
"""Bytes of the message that tells a run's end, at most: longer ones need not be read."""
Size = tuple[int, int]
Scheme = Literal["light", "dark"]
WINDOW: Size = 1280, 900
PHONE: Size = 390, 844

READY = """() => {
  const app = document.querySelector('[data-testid=stApp]')?.dataset ?? {};
  const width = (e) => e?.getBoundingClientRect().width;
  const fits = (e) => { // in front of a class charts are enlarged: lecture/streamlit.js
    const zoom = e.currentCSSZoom;
    return Math.abs(width(e.querySelector('.marks')) - zoom * width(e)) < 1 + 9 * (zoom - 1);
  };
  const done = '.panel, .hero[aria-label], .cards[aria-label], .picker .drawn, .files button';
  const drawn = (e) => e.shadowRoot?.querySelector(done) || fits(e);
  const pictures = document.querySelectorAll(
    '[data-testid=stVegaLiteChart], [data-testid=stBidiComponentIsolated]');
  return document.querySelector('h1') && app.testScriptState === 'notRunning'
    && app.testConnectionState === 'CONNECTED' && [...pictures].every(drawn)
    && !document.querySelector(
      '[data-testid=stSkeleton], [data-stale=true], [class*=st-key-model-that-comes]');
}"""
"""Has the script ended, and is everything painted that it sent, charts as wide as they shall be?"""

DRAWN = """() => [
  ...[...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')].flatMap((host) =>
    [...host.shadowRoot.querySelectorAll('.panel')].map((panel) => [
      panel.innerText,
      [...panel.querySelectorAll('td.cell')].map(
        (cell) => [cell.value?.toPrecision(4), cell.style.backgroundColor]),
      [...panel.querySelectorAll('canvas')].map((canvas) => canvas.toDataURL()),
    ])),
  ...[...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')].flatMap((host) =>
    [...host.shadowRoot.querySelectorAll('.hero')].map((hero) => [
      hero.ariaLabel, hero.querySelector('.in-words').textContent,
    ])),
  ...[...document.querySelectorAll('.vega-embed')].map((chart) =>
    chart.querySelector('canvas')?.toDataURL()
      ?? [...chart.querySelectorAll('svg path, svg line, svg text')].map((mark) => [
        mark.textContent, ...['d', 'transform', 'fill'].map((name) => mark.getAttribute(name))])),
]"""
"""Everything that stands in the pictures, as it was painted; the last bits of a product depend on
where its factors lie in memory."""

IDLE = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
  requestIdleCallback(() => done(), { timeout: 5000 }))))"""
"""Wait until the front end has dealt with all that has come; some pages are never idle."""

REDRAWN = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"

WEARS = """(scheme) => {
  const app = document.querySelector('[data-testid=stApp]');
  const [red] = getComputedStyle(app).backgroundColor.match(/\\d+/g);
  return (red < 128) === (scheme === 'dark');
}"""

IS_DARK = "() => matchMedia('(prefers-color-scheme: dark)').matches"

TURN = """(link) => {
  History.prototype.pushState.call(history, {}, '', link); // as a browser does, unseen by the page
  dispatchEvent(new PopStateEvent('popstate', { state: {} }));
}"""
"""Follow a link as Back and Forward do: the page runs, and the front end is not loaded again."""

DRAG = """(range, value) => {
  range.value = value;
  range.dispatchEvent(new Event('input'));
  return range.getRootNode().querySelector('.says')?.textContent;
}"""

VALUES = """(panel) => [...panel.querySelectorAll('tbody tr')].map((line) =>
  [...line.querySelectorAll('td.cell')].map((cell) => cell.value))"""

WANTED = "dispatchEvent(new Event('attention-wanted'))"
"""As a click on a file of the page asks for it, with all that was chosen."""

CLICK = """(button) => {
  button.click();
  return button.getRootNode().querySelector('.says').textContent;
}"""


class Visit:
    """A visitor of one page; `sent` and `received` count messages to and from the server,
    `ended` the runs of its page that are over."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address
        self.sent = self.received = self.ended = 0
        self.errors: list[str] = []
        page.set_default_timeout(LIMIT)
        page.on("websocket", self._count)
        page.on("console", self._listen)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", self._dismiss)
        page.on("request", lambda request: self._stay(request.url))

    def goto(self, path: str, **choices: str) -> "Visit":
        """Follow a link, and wait until the page is complete."""
        return self.follow(path, **choices).ready()

    def follow(self, path: str, **choices: str) -> "Visit":
        """Follow a link, and do not wait."""
        return self.follow_raw(f"{path}?{urlencode({'predict': 'false', **choices})}")

    def turn_to(self, path: str, **choices: str) -> "Visit":
        """Go on to another page in the same tab, or to another link of this one, and wait until it
        is complete."""
        link = f"/{path}?{urlencode({'predict': 'false', **choices})}"
        is_other = urlsplit(self.page.url).path != f"/{path}"
        title = self.page.locator("h1").inner_text() if is_other else ""
        self.after_run(lambda: self.page.evaluate(TURN, link))
        changed = "(title) => (document.querySelector('h1')?.innerText ?? title) !== title"
        self.page.wait_for_function(changed, arg=title)
        self.says.first.wait_for()  # the run may end before its first picture has come
        return self.ready()

    def follow_raw(self, link: str) -> "Visit":
        """Follow a link as it is written, and do not wait."""
        self.page.goto(f"{self.address}/{link}", wait_until="commit")
        return self

    def ready(self) -> "Visit":
        """Wait until nothing is computed or drawn any more; the first one may wait for a model."""
        self.page.wait_for_function(READY, timeout=3 * LIMIT)
        return self

    def after_run(self, action: Callable[[], object]) -> "Visit":
        """Do what makes the page run once more, and wait until that run has ended.

        Where a machine is busy a run may begin and end between two frames of the page: what tells
        of its end is the server's message.
        """
        before = self.ready().ended
        action()
        if self.ended == before:
            self.socket.wait_for_event("framereceived", tells_end)
        self.page.evaluate(IDLE)
        return self.ready()

    def wear(self, scheme: Scheme) -> "Visit":
        """By day or by night; a page that draws in the theme's colours hears of it and runs."""
        if self.page.evaluate(IS_DARK) == (scheme == "dark"):
            return self
        sent, ended = self.ready().sent, self.ended
        self.page.emulate_media(color_scheme=scheme)
        self.page.wait_for_function(WEARS, arg=scheme)
        self.page.evaluate(IDLE)
        if self.sent > sent and self.ended == ended:
            self.socket.wait_for_event("framereceived", tells_end)
            self.page.evaluate(IDLE)
        return self.ready()

    def resize(self, size: Size) -> "Visit":
        """The page in a window of another size, drawn anew."""
        self.page.set_viewport_size({"width": size[0], "height": size[1]})
        self.page.evaluate(REDRAWN)
        return self.ready()

    @property
    def choices(self) -> dict[str, str]:
        """What the address says that the reader has chosen."""
        found = parse_qs(urlsplit(self.page.url).query, keep_blank_values=True)
        return {key: values[-1] for key, values in found.items()}

    def wait_for_choice(self, key: str, value: str | None) -> None:
        """Wait until the address says so; None is a choice that is not in it."""
        self.page.wait_for_function(
            "([key, value]) => new URLSearchParams(location.search).get(key) === value",
            arg=[key, value],
        )

    def expect_in_link(self, **choices: str | None) -> None:
        """In the end the address says so, and nothing is on its way to the screen."""
        for key, value in choices.items():
            self.wait_for_choice(key, value)
        self.page.evaluate(IDLE)
        self.ready()

    def see_below(self) -> None:
        """Have the whole page drawn with what was chosen, as for a file, and wait for it."""
        self.page.evaluate(WANTED)
        self.page.wait_for_function("() => attentionAddress.unheard.size === 0")
        self.page.evaluate(IDLE)
        self.ready()

    def back(self) -> "Visit":
        """Press the browser's Back, and wait until the page is complete."""
        return self.after_run(self.page.go_back)

    @property
    def hero(self) -> Locator:
        """The page's first picture."""
        return self.page.locator(".hero")

    @property
    def says(self) -> Locator:
        """The sentence of the page's first picture."""
        return self.page.locator(".hero .says")

    @staticmethod
    def says_after(button: Locator) -> str:
        """Click a button; the picture's sentence before any server could have heard of it."""
        sentence: str = button.evaluate(CLICK)
        return sentence

    def expect_said(self, *parts: str) -> None:
        """In the end the sentence of the first picture has all of these."""
        for part in parts:
            expect(self.says).to_contain_text(part)

    def radio(self, name: str | re.Pattern[str]) -> Locator:
        """One of several choices in the first picture."""
        return self.hero.get_by_role("radio", name=name, exact=True)

    def press(self, name: str) -> None:
        """A button of the first picture."""
        self.hero.get_by_role("button", name=name, exact=True).click()

    def panel(self, name: str) -> Locator:
        """One matrix of a linked picture; where a card is open, its own."""
        found = self.page.locator(f'.panel[aria-label="{name}"]')
        return found.last if "deep" in self.choices else found.first

    def cell(self, name: str, row: int, column: int) -> Locator:
        """A number of a matrix."""
        return self.panel(name).locator("tbody tr").nth(row).locator("td.cell").nth(column)

    def values(self, name: str) -> list[list[float | None]]:
        """The numbers of a matrix, row by row; a masked one is None."""
        found: list[list[float | None]] = self.panel(name).evaluate(VALUES)
        return found

    def live_slider(self, label: str) -> Locator:
        """A slider that moves in the browser."""
        return self.page.locator("label.slider", has_text=label).locator("input")

    def drawn(self) -> Any:
        """The contents of all pictures."""
        return self.page.evaluate(DRAWN)

    def redrawn(self, before: Any) -> Any:
        """Wait until the pictures show something else, and return it."""
        self.page.wait_for_function(
            f"(before) => JSON.stringify(({DRAWN})()) !== JSON.stringify(before)",
            arg=before,
            polling=100,  # to read all pixels takes longer than a frame
        )
        return self.ready().drawn()

    def _count(self, socket: WebSocket) -> None:
        self.socket = socket
        socket.on("framesent", lambda _: setattr(self, "sent", self.sent + 1))
        socket.on("framereceived", self._hear)

    def _hear(self, frame: bytes | str) -> None:
        self.received += 1
        self.ended += tells_end(frame)

    def _listen(self, message: ConsoleMessage) -> None:
        # On a deep link Streamlit tries the page's own folder before it finds its server.
        searching = "/_stcore/" in message.location["url"] and "404" in message.text
        if message.type == "error" and not searching:
            self.errors.append(message.text)

    def _dismiss(self, dialog: Dialog) -> None:
        self.errors.append(f"somebody else's script ran: {dialog.message}")
        dialog.dismiss()

    def _stay(self, url: str) -> None:
        if not url.startswith((self.address, self.address.replace("http", "ws"), "data:", "blob:")):
            self.errors.append(f"asked somebody else: {url}")


def tells_end(frame: bytes | str) -> bool:
    """Does this message of the server say that a run is over, and no other one follows it?"""
    if isinstance(frame, str) or len(frame) > LONGEST_END:
        return False
    said = ForwardMsg.FromString(frame)
    early = ForwardMsg.ScriptFinishedStatus.FINISHED_EARLY_FOR_RERUN
    return said.WhichOneof("type") == "script_finished" and said.script_finished != early


def dressed(page: Page, scheme: Scheme, size: Size) -> Page:
    """A page by day or by night, in a window of a size."""
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    return page


def count_exceptions(visit: Visit) -> int:
    """How many tracebacks the page shows."""
    return visit.page.locator("[data-testid=stException]").count()


def drag(slider: Locator, value: Any) -> str:
    """Move a slider without letting it go; what its picture says, before any server hears of it."""
    said: str = slider.evaluate(DRAG, f"{value}")
    return said


def drop(slider: Locator) -> None:
    """Let a slider go."""
    slider.evaluate("(range) => range.dispatchEvent(new Event('change'))")
