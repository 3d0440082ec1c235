"""The 10-minute tour, stop by stop: from the key to the stop's words, and to its picture.

Every frame that the browser draws is looked at: what of the new stop is on screen, and whether
anything is. A new server every time; the first visitor meets a server that has drawn no page yet,
the second one a server that has. Who goes on has looked at a stop for some seconds.
"""

import statistics
from typing import NamedTuple

from playwright.sync_api import Browser, Page

from benchmarks import report
from benchmarks.browser import ROOT, chromium, server, wait_until_healthy
from explainers.ui.tour import PATHS

LOOKS, PATIENCE = 4_000, 60_000
"""Milliseconds for which a visitor looks at a stop before the next one; and to wait for a stop."""
WATCH = """() => {
  const isSeen = (node) => [...node?.getClientRects() ?? []].some(({ top, bottom, width }) =>
    width > 0 && bottom > 0 && top < innerHeight);
  const main = (selector) => [...document.querySelectorAll(`[data-testid=stMain] ${selector}`)];
  const heroes = () => [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .flatMap((part) => [...part.shadowRoot?.querySelectorAll('.hero[aria-label]') ?? []])
    .filter((hero) => hero.querySelector('.says > *') && isSeen(hero));
  const title = () => main('h1').find(isSeen)?.innerText ?? '';
  const words = () => main('[data-testid=stMarkdownContainer] p').find(isSeen)?.innerText ?? '';
  window.tour = {
    begin(isByKey) {
      const old = { title: title(), words: words(), heroes: new Set(heroes()) };
      const found = tour.found = { words: null, picture: null, blank: 0 };
      let began = null, filled = null;
      const start = (at) => { began = filled = at; };
      const note = (now) => {
        const drawn = heroes(), said = [title(), words()];
        if (drawn.length || said.some(Boolean)) filled = now;
        else found.blank = Math.max(found.blank, now - filled);
        const isNew = said[0] !== old.title && said[1] !== old.words;
        if (isNew && said.every(Boolean)) found.words ??= now - began;
        if (drawn.some((hero) => !old.heroes.has(hero))) found.picture ??= now - began;
      };
      const look = () => {
        if (began !== null) note(performance.now());
        if (found.words === null || found.picture === null) requestAnimationFrame(look);
      };
      const once = { capture: true, once: true };
      if (isByKey) addEventListener('keydown', ({ timeStamp }) => start(timeStamp), once);
      else start(0);
      look();
    },
  };
}"""
COMPLETE = "() => tour.found?.words && tour.found?.picture"


class Stop(NamedTuple):
    """Milliseconds to the words and to the picture of a stop, and the longest empty screen."""

    words: float
    picture: float
    blank: float


def walk(browser: Browser, address: str) -> list[Stop]:
    """The tour of a new visitor, from the link to the last stop, by keys."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as visitor:
        visitor.add_init_script(f"({WATCH})(); tour.begin(false);")
        page = visitor.new_page()
        page.goto(f"{address}/?tour=1", wait_until="commit")
        found = [look(page)]
        for _path in PATHS[1:]:
            page.evaluate("() => tour.begin(true)")
            page.keyboard.press("PageDown")
            found.append(look(page))
        return found


def look(page: Page) -> Stop:
    """What was seen of a stop, as soon as all of it is there; then the visitor looks at it."""
    page.wait_for_function(COMPLETE, timeout=PATIENCE)
    found = page.evaluate("() => tour.found")
    page.wait_for_timeout(LOOKS)
    return Stop(**found)


def measure(tours: int) -> str:
    """The report's section."""
    before = report.load()
    first, second = list[list[Stop]](), list[list[Stop]]()
    with chromium() as browser:
        for _tour in range(tours):
            with server(ROOT / "app.py", ROOT) as address:
                wait_until_healthy(address)
                first.append(walk(browser, address))
                second.append(walk(browser, address))
        version = browser.version
    return report.section(
        "Tour",
        version,
        f"Milliseconds from the key Page Down (of the first stop: from the link) to the frame with "
        f"the next stop's title and question, and to that with its picture: medians of {tours} new "
        f"servers, the slowest in brackets; and the longest time in which nothing was on screen. "
        f"The first visitor meets a server that has drawn no page yet. Load of the machine before "
        f"and after: {before:.1f}, {report.load():.1f}.",
        " stop | first visitor: words | picture | empty | second: words | picture | empty ",
        [
            " | ".join([f" {path[6:-3]}", *_cells(first, place), *_cells(second, place)]) + " "
            for place, path in enumerate(PATHS)
        ],
    )


def _cells(tours: list[list[Stop]], place: int) -> list[str]:
    """Of one stop: words, picture, the longest empty screen."""
    words, pictures, blanks = zip(*(tour[place] for tour in tours), strict=True)
    timed = [f"{statistics.median(one):.0f} ({max(one):.0f})" for one in (words, pictures)]
    return [*timed, f"{max(blanks):.0f}"]


if __name__ == "__main__":
    arguments = report.options(__doc__, 3, "tours")
    report.publish(measure(arguments.tours), arguments.write)
