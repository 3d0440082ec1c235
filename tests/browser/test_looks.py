"""Pages that are loaded: small and by night, and by a browser that remembers nothing."""

import pytest

from explainers.charts.theme import THEMES
from tests.browser.looks import PHONE, list_what_stands_out, violations
from tests.support.browser_fixtures import PAGES, WINDOW, Visit, dressed

WATCH = """() => {
  const hosts = '[data-testid=stBidiComponentIsolated]';
  globalThis.worn = new Set();
  const look = () => {
    for (const host of document.querySelectorAll(hosts)) {
      const colour = host.shadowRoot.querySelector('.hero')?.style.getPropertyValue('--query');
      if (colour) globalThis.worn.add(colour);
    }
    globalThis.watching = requestAnimationFrame(look);
  };
  look();
}"""
"""In every frame from now on: the colour of queries in every first picture."""
WORN = "() => { cancelAnimationFrame(watching); return [...worn]; }"
LINK = {
    "text": "one word, another word",
    "seed": "7",
    "d_model": "16",
    "queries": "across",
    "weights": "untrained",
}
KNOWN = "The team praised young fans on Sunday"
"""A sentence all of whose words the readable head has learned."""


@pytest.fixture
def stranger(browser, address):
    """A browser that remembers no visit, on a phone by night."""
    with browser.new_context(reduced_motion="reduce") as context:
        yield Visit(dressed(context.new_page(), "dark", PHONE), address)


@pytest.mark.rotating(12)
@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)
def test_a_page_that_is_loaded_small_by_night(stranger, stroll, path):
    """It may grow; and a stranger sees by the link what a reader sees who comes from elsewhere."""
    link = LINK if path not in ("", "query_key_value") else LINK | {"text": KNOWN, "deep": "sizes"}
    stranger.goto(path, **link)
    faults = list_what_stands_out(stranger) + violations(stranger)
    assert stranger.choices.items() <= {"predict": "false", **link}.items()
    dressed(stranger.page, "light", WINDOW)
    assert stranger.goto(path, **link).drawn() == stroll(path, **link).drawn()
    assert not faults + stranger.errors


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_a_picture_wears_the_theme_from_its_first_frame(stroll, theme):
    one = stroll("tokens", scheme=theme.name)
    one.page.evaluate(WATCH)
    one.turn_to("scores")
    assert one.page.evaluate(WORN) == [theme.query]
