"""The first visitors of a server that has just been started, behind a path of a proxy."""

from collections import defaultdict
from types import SimpleNamespace

import pytest
from playwright.sync_api import expect

from explainers.ui import browser_files
from explainers.ui.browser_files import FOLDER
from explainers.ui.page_parts import first_picture
from tests.browser.test_browser_files import name, needed
from tests.deploy.replicas import serve
from tests.support.browser_fixtures import ROOT
from tests.support.opening import opened
from tests.support.visit import Visit

BASE = "/a/course"
LINK = {
    "text": "The CEO announced",
    "weights": "untrained",
    "d_k": "8",
    "step": "weights",
    "deep": "steps",
}
LISTS = """() => { globalThis.listed = []; new MutationObserver(() => {
  const first = document.querySelector('[data-testid=stSidebarNav] a')?.textContent;
  if (first && first !== listed.at(-1)) listed.push(first);
}).observe(document, { childList: true, subtree: true }); }"""
"""Keeps what stands first in the list of pages, whenever that changes."""


def is_complete(visit):
    pages = len(list(ROOT.glob("pages/*.py")))
    expect(visit.page.get_by_role("heading", level=1)).to_have_text("From scores to output")
    expect(visit.page.get_by_role("navigation").get_by_role("link")).to_have_count(pages)
    expect(visit.page.get_by_role("button", name="Settings")).to_be_visible()
    expect(visit.page.get_by_role("textbox", name="Sentence")).to_have_value(LINK["text"])
    expect(visit.page.locator('.panel[aria-label="weights"]').first).to_be_visible()
    assert visit.choices == {"predict": "false", **LINK}
    assert [first[:1] for first in visit.page.evaluate("listed")] == ["1"], "files for pages"


def test_three_come_at_once(browser, tmp_path):
    """One sees the first picture before PyTorch is there; two get what the same link asks for."""
    below = {"STREAMLIT_SERVER_BASE_URL_PATH": BASE}
    with (
        serve(tmp_path / "log", **below) as cold,
        browser.new_context(reduced_motion="reduce") as context,
    ):
        context.add_init_script(f"({LISTS})()")
        asked = defaultdict(list)
        context.on("request", lambda request: asked[request.frame.page].append(request.url))
        first, *both = (Visit(context.new_page(), cold.address + BASE) for _ in range(3))
        first.follow("")
        early = first.page.locator(".st-key-first-picture")
        expect(early.locator(".hero .says")).to_be_visible()
        seen = early.locator(".hero .says").inner_text()
        expect(early.get_by_text("PyTorch is being loaded")).to_be_visible()
        for one in both:
            one.follow("scores", **LINK)
        first.ready()
        expect(early).to_have_count(0)
        assert first.says.inner_text() == seen
        assert len(first.drawn()) == 1
        for script in ("/picture/picture.js", "/picture/hero.js"):
            assert sum(url.endswith(script) for url in asked[first.page]) == 1, "never again"
        one, other = (one.ready().drawn() for one in both)
        assert one == other
        for one in both:
            is_complete(one)
        need_their_files(both, asked)
        assert not first.errors + both[0].errors + both[1].errors


def need_their_files(visits, asked):
    """All modules of a picture are fetched from the app's path, once; another page's with it.

    Tabs of a process share what one has fetched: which one asks is chance, where both come at once.
    """
    files = [[*filter(browser_files.is_our_file, asked[one.page])] for one in visits]
    ours = [[url.partition(".figure-figure/")[2] for url in urls] for urls in files]
    got = [[*filter(None, paths)] for paths in ours]
    modules = map(name, needed(FOLDER / "figure" / "figure.js"))
    assert {*got[0], *got[1]} == {*modules, "figure/style.css"}
    assert all(len(paths) == len(set(paths)) for paths in got)
    visit = visits[0]
    assert all(url.startswith(f"{visit.address}/_stcore/") for url in files[0] + files[1])
    asked[visit.page].clear()
    visit.after_run(visit.page.get_by_role("link", name="4 · Masks").click)
    visit.page.get_by_role("heading", name="Masks", exact=True, level=1).wait_for()
    new = [*filter(browser_files.is_our_file, asked[visit.page])]
    assert new, "what only this kind of picture needs comes with it"
    kind = needed(FOLDER / "picture" / "heroes" / "masked.js")
    assert {url.partition(".picture-picture/")[2] for url in new} <= set(map(name, kind))


@pytest.mark.parametrize(
    ("link", "shown"), [({}, 1), ({"mask": "causal"}, 0), ({"lecture": "true"}, 0)]
)
def test_only_the_picture_that_was_computed_beforehand_is_shown_early(monkeypatch, link, shown):
    """One who asks for another picture waits for its numbers."""
    early = []
    monkeypatch.setattr(first_picture, "sys", SimpleNamespace(modules={}))
    monkeypatch.setattr(first_picture, "await_fetch", lambda *_: None)
    monkeypatch.setattr(first_picture, "show_hero", lambda *what: early.append(what))
    assert not opened(ROOT / "pages" / "01_start.py", link).exception
    assert len(early) == shown
