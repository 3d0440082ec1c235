"""What the stories share: a reader in a tab that stays open, and names for what they look at."""

import re
from typing import Any
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import Locator, Page, expect

from tests.support.browser_fixtures import LIMIT, READY, WINDOW, Size, Visit, dressed

PHONE = 390, 844
COUNT_RUNS = """() => {
  globalThis.runs = 0;
  globalThis.WebSocket = class extends WebSocket {
    constructor(...options) {
      super(...options);
      this.addEventListener('message', ({ data }) => {
        const [field, status] = new Uint8Array(data).slice(-2); // ForwardMsg.script_finished
        if (data.byteLength < 200 && field === 0x30 && status === 0) globalThis.runs += 1;
      });
    }
  };
}"""
"""How often the server has said that the script has come to its end. A quick run cannot be seen to
begin: the front end paints `running` and `notRunning` in one frame."""
FOLLOW = """(link) => {
  globalThis.runs = 0;
  history.pushState({}, '', link);
  dispatchEvent(new PopStateEvent('popstate', { state: {} }));
}"""
"""Follow a link as Back and Forward do: the page runs, and the front end is not loaded again."""
FORGET_RUNS, HAS_RUN = "() => { globalThis.runs = 0; }", "() => globalThis.runs > 0"
PAINTED = """() => new Promise((done) => requestAnimationFrame(() =>
  requestAnimationFrame(() => requestIdleCallback(done, { timeout: 5000 }))))"""
"""Until all that has been heard has been worked off."""
DRAG = """(range, value) => {
  range.value = value;
  range.dispatchEvent(new Event('input'));
  return range.getRootNode().querySelector('.says')?.textContent;
}"""
"""Drag a slider, and do not let it go; the sentence, before any server could have heard of it."""
DROP = "(range) => range.dispatchEvent(new Event('change'))"
AT_REST = """() => {
  const roots = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')];
  return [document, ...roots.map((host) => host.shadowRoot)].every((root) =>
    root.getAnimations().every((one) => one.playState !== 'running'));
}"""


class Story(Visit):
    """A reader of one page, in a tab that may have shown others before."""

    def __init__(self, page: Page, address: str) -> None:
        super().__init__(page, address)
        page.add_init_script(f"({COUNT_RUNS})()")
        self.paths: set[str] = set()
        """Of the pages that were shown."""
        page.on("framenavigated", lambda frame: self.paths.add(urlsplit(frame.url).path))

    def ready(self) -> "Story":
        """Wait until nothing is computed or drawn any more, nor on its way to the screen."""
        self.page.evaluate(PAINTED)
        self.page.wait_for_function(READY, timeout=3 * LIMIT, polling=100)  # not in each frame
        self.page.evaluate(PAINTED)
        return self

    def wait_for_choice(self, key: str, value: str | None) -> None:
        """Wait until the address says so; None is a choice that is not in it."""
        self.page.wait_for_function(
            "([key, value]) => new URLSearchParams(location.search).get(key) === value",
            arg=[key, value],
            polling=100,
        )

    def turn(self, path: str, size: Size = WINDOW, **choices: str) -> "Story":
        """Follow a link in this tab, to this page or another one, and wait until it is complete."""
        dressed(self.page, "light", size)
        if self.page.url == "about:blank":
            self.goto(path, **choices)
        else:
            link = urlencode({"predict": "false", **choices})
            self.page.evaluate(FOLLOW, f"/{path}?{link}")
            self.page.wait_for_function(HAS_RUN, timeout=3 * LIMIT, polling=100)
        self.ready()
        return self

    def back(self) -> "Story":
        """Press the browser's Back, and wait until the page is complete."""
        self.page.evaluate(FORGET_RUNS)
        self.page.go_back()
        self.page.wait_for_function(HAS_RUN, timeout=3 * LIMIT, polling=100)
        self.ready()
        return self

    @property
    def hero(self) -> Locator:
        """The page's first picture."""
        return self.page.locator(".hero")

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
        found: list[list[float | None]] = self.panel(name).evaluate(
            "(panel) => [...panel.querySelectorAll('tbody tr')].map("
            "(line) => [...line.querySelectorAll('td.cell')].map((cell) => cell.value))"
        )
        return found

    def live_slider(self, label: str) -> Locator:
        """A slider that moves in the browser."""
        return self.page.locator("label.slider", has_text=label).locator("input")

    def expect_said(self, *parts: str) -> None:
        """In the end the sentence of the first picture has all of these."""
        for part in parts:
            expect(self.says).to_contain_text(part)

    def expect_in_link(self, **choices: str | None) -> None:
        """In the end the address says so; None is a choice that is not in it."""
        for key, value in choices.items():
            self.wait_for_choice(key, value)
        self.ready()

    def come_to_rest(self) -> None:
        """Wait until nothing moves."""
        self.page.wait_for_function(AT_REST)


def drag(slider: Locator, value: Any) -> str:
    """Move a slider without letting it go; what the picture says then."""
    said: str = slider.evaluate(DRAG, f"{value}")
    return said


def drop(slider: Locator) -> None:
    """Let a slider go."""
    slider.evaluate(DROP)
