"""What a reader reads does not move while the rest of a page is being drawn."""

import pytest

from tests.support.browser_fixtures import PAGES
from tests.support.visit import PHONE, WINDOW

FARTHEST = 8
"""Pixels."""
NOTE_MOVES = """
  window.moved = [];
  new PerformanceObserver((list) => {
    for (const { sources } of list.getEntries())
      for (const { node, previousRect: from, currentRect: to } of sources)
        moved.push([node?.innerText ?? node?.textContent ?? '', to.x - from.x, to.y - from.y]);
  }).observe({ type: 'layout-shift', buffered: true });
"""
"""What is not seen, before or after, moves nothing: browsers count what readers see."""


@pytest.mark.rotating(8)
@pytest.mark.parametrize(
    ("path", "size"),
    [(path, WINDOW if at % 3 else PHONE) for at, path in enumerate(PAGES.values())],
)
def test_nothing_moves_while_a_page_is_drawn(visit, path, size):
    one = visit(path, size=size)  # a model that the page reads with is loaded now
    one.page.add_init_script(NOTE_MOVES)
    one.goto(path)
    moved = one.page.evaluate("moved.map(([text, x, y]) => [text.slice(0, 60), x, y])")
    assert [one for one in moved if max(map(abs, one[1:])) > FARTHEST] == []
