"""The first visitors of a server that has just been started, on any page."""

import pytest
from playwright.sync_api import expect

from benchmarks.browser import server, wait_until_healthy
from tests.support.browser_fixtures import ROOT, Visit

LINK = {
    "text": "two plus three",
    "weights": "untrained",
    "d_k": "8",
    "step": "weights",
    "deep": "steps",
}


@pytest.fixture
def cold():
    """A server that nobody has visited yet."""
    with server(ROOT / "app.py", ROOT) as address:
        wait_until_healthy(address)
        yield address


@pytest.fixture
def reader(browser, cold):
    """Opens a visit of the cold server; at the end nothing has failed."""
    visits = []

    def opened():
        visits.append(Visit(browser.new_page(), cold))
        return visits[-1]

    yield opened
    for one in visits:
        one.page.close()
        assert not one.errors


def is_complete(visit):
    pages = len(list(ROOT.glob("pages/*.py")))
    expect(visit.page.get_by_role("heading", level=1)).to_have_text("From scores to output")
    expect(visit.page.get_by_role("navigation").get_by_role("link")).to_have_count(pages)
    expect(visit.page.get_by_role("button", name="Settings")).to_be_visible()
    expect(visit.page.get_by_role("textbox", name="Sentence")).to_have_value(LINK["text"])
    expect(visit.page.locator('.panel[aria-label="weights"]').first).to_be_visible()
    assert visit.choices == {"predict": "false", **LINK}


LISTS = """() => { globalThis.listed = []; new MutationObserver(() => {
  const first = document.querySelector('[data-testid=stSidebarNav] a')?.textContent;
  if (first && first !== listed.at(-1)) listed.push(first);
}).observe(document, { childList: true, subtree: true }); }"""
"""Keeps what stands first in the list of pages, whenever that changes."""


def test_a_link_to_a_later_page(reader):
    visit = reader()
    visit.page.add_init_script(f"({LISTS})()")
    is_complete(visit.goto("scores", **LINK))
    assert [first[:1] for first in visit.page.evaluate("listed")] == ["1"], "files for pages"


def test_two_readers_at_once(reader):
    both = [reader(), reader()]
    for one in both:
        one.follow("scores", **LINK)
    first, second = [one.ready().drawn() for one in both]
    for one in both:
        is_complete(one)
    assert first == second


def test_the_first_reader_sees_the_picture_before_torch_is_there(reader):
    visit = reader().follow("")
    first = visit.page.locator(".st-key-first-picture")
    expect(first.locator(".hero .says")).to_be_visible()
    seen = first.locator(".hero .says").inner_text()
    expect(first.get_by_text("PyTorch is being loaded")).to_be_visible()
    visit.ready()
    expect(first).to_have_count(0)
    assert visit.says.inner_text() == seen
    assert len(visit.drawn()) == 1


def test_a_link_to_another_first_picture_waits_for_its_numbers(reader):
    visit = reader().follow("", mask="causal")
    expect(visit.says).to_be_visible()
    assert not visit.page.locator(".st-key-first-picture").count()
