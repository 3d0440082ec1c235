"""The course as files: pages that ask nobody, and offer nothing that does nothing."""

import json
import re

import pytest
from playwright.sync_api import expect

from explainers.export.__main__ import main
from explainers.export.body import write_html
from explainers.export.site import Site, list_titles
from explainers.export.visit import PAGES
from tests.export.test_embed import say_at_first
from tests.golden.kept import load_models
from tests.house.test_house import contents

LIVE = "https://attention.example/app"
LARGEST = 150_000
"""Bytes of a page, compressed, with what it fetches before its picture is drawn."""
DEAD = """() => [...document.querySelectorAll('main button, main input')]
  .filter((one) => !one.closest('form.question') && !one.matches('.veil, .theme'))
  .map((one) => one.outerHTML)"""
"""What stands outside of pictures and would do nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Some pages of the course, in both languages."""
    load_models()
    folder = tmp_path_factory.mktemp("site")
    Site(folder, ["en", "vi"], LIVE).write(["masks", "scores"])
    return folder


def open_page(page, address):
    page.goto(address)
    expect(page.locator("html[data-ready]")).to_have_count(1)
    expect(page.locator(".hero[aria-label]").first).to_be_visible()
    return page


def test_the_path_is_that_of_the_contents():
    assert list(list_titles().values()) == [title for _path, title in contents()]
    assert set(list_titles()) == set(PAGES)


@pytest.mark.rotating(8)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_from_a_folder_and_from_a_server(page, served, quiet_page):
    """It asks nobody else, says what the app says, and holds nothing that does nothing."""
    address, folder = served
    load_models()
    Site(folder, ["en", "vi"], LIVE).write([page])
    for language in ("en", "vi"):
        file = folder / language / f"{page}.html"
        open_page(quiet_page, file.as_uri())
        for card in quiet_page.locator("details summary").all():
            card.click()
        assert quiet_page.evaluate(DEAD) == []
        assert " live on " not in quiet_page.locator("main").inner_text()
    open_page(quiet_page, f"{address}/en/{page}.html")
    expect(quiet_page.locator(".hero .says").first).to_have_text(say_at_first(page))
    assert quiet_page.faults == []
    begins = (folder.as_uri(), address, "data:", "blob:")
    assert [url for url in quiet_page.asked if not url.startswith(begins)] == []


def test_a_page_keeps_choices_in_its_links_and_judges_answers(site, quiet_page):
    page = open_page(quiet_page, (site / "en" / "masks.html").as_uri())
    page.get_by_role("radio", name="window").click()
    live = page.get_by_role("link", name="Open in the live app").first
    expect(live).to_have_attribute("href", f"{LIVE}/masks?rule=window")
    expect(page.get_by_role("link", name="Tiếng Việt")).to_have_attribute(
        "href", re.compile(r"vi/masks\.html\?rule=window$")
    )
    assert page.url.endswith("masks.html?rule=window")
    expect(page.locator(".stale")).to_contain_text("What stands below was computed")
    page.get_by_role("link", name="Tiếng Việt").click()
    expect(page.locator(".hero .says").first).to_contain_text("Mặt nạ cửa sổ")
    page.go_back()
    expect(page.locator(".hero .says").first).to_contain_text("The window mask")
    question = page.locator("form.question").first
    expect(question.locator(".because")).to_be_hidden()
    question.get_by_role("button").first.click()
    expect(question.locator(".verdict")).to_contain_text("answer is")
    expect(question.locator(".because")).to_be_visible()
    for recall in page.locator("[data-recall]").all():
        recall.locator("input").fill("0,4711")
        recall.get_by_role("button").click()
        expect(recall.locator(".verdict")).to_contain_text("0,4711")
    page.get_by_text("The learning path").click()
    expect(page.locator(".done")).to_have_text(["Masks"])
    assert quiet_page.faults == []


def test_a_number_tells_its_arithmetic_and_its_figure_wears_the_theme(site, quiet_page):
    page = open_page(quiet_page, (site / "en" / "masks.html").as_uri())
    how = page.locator(".figure", has=page.locator('.panel[aria-label="weights"]'))
    how.locator('.panel[aria-label="weights"] td.cell').nth(1).click()
    expect(how.locator(".card")).to_contain_text("weights: query The, key CEO")
    background = how.locator(".panel").first.evaluate("(it) => getComputedStyle(it).color")
    page.get_by_role("button", name="Light or dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("body")).to_have_css("background-color", "rgb(15, 18, 22)")
    expect(how.locator(".panel").first).not_to_have_css("color", background)
    expect(how.locator(".card")).to_contain_text("weights: query The, key CEO")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(how.locator(".panel").first).to_have_css("color", background)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert quiet_page.faults == []


@pytest.mark.parametrize("address", ["", "javascript:alert(1)"])
def test_pages_lead_to_an_app_or_are_not_written(address, tmp_path, monkeypatch, capsys):
    """A workflow whose variable nobody has set passes an empty one on."""
    monkeypatch.setenv("ATTENTION_LIVE", address)
    with pytest.raises(SystemExit):
        main([str(tmp_path / "site")])
    assert (
        f"no app can be at {address!r}; give its address by --live or ATTENTION_LIVE"
        in capsys.readouterr().err
    )
    with pytest.raises(SystemExit):
        main([str(tmp_path / "site"), "--live", "http://localhost", "--languages", "en,xx"])
    assert "there is no language 'xx'; use some of en, vi" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_markdown_becomes_html_that_no_text_can_break():
    text = "**a** :gray-badge[:material/info: trained *x*] [Masks](masks?rule=own) <b>x</b> `<i>`"
    assert write_html(text, {"masks"}, is_inline=True) == (
        '<strong>a</strong> <span class="gray-badge">trained <em>x</em></span> '
        '<a href="masks.html?rule=own">Masks</a> &lt;b&gt;x&lt;/b&gt; <code>&lt;i&gt;</code>'
    )


def test_a_page_is_small(site):
    import gzip

    shared = ["shared.js", "site.css", "picture-heroes-masked.js", "figure-figure.js"]
    files = [site / "en" / "masks.html", *(site / "assets" / name for name in shared)]
    assert sum(len(gzip.compress(file.read_bytes())) for file in files) <= LARGEST
    words = (site / "assets" / "words-vi.js").read_text(encoding="utf-8")
    assert json.loads(words.partition(", ")[2].removesuffix(");"))["Reset"]
