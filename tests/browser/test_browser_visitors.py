"""Visitors who differ: in language and theme, in what they remember and what they wait for."""

import re

import pytest
from playwright.sync_api import expect

from explainers.charts.theme import THEMES
from explainers.toys.sentence import write_running_sentence
from tests.support.visit import Visit

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
BAR = "[data-testid=stProgress]"
WORN = "() => { cancelAnimationFrame(watching); return [...worn]; }"


def test_who_has_chosen_no_sentence_gets_that_of_the_language(browser, address):
    """In a browser that speaks one of ours, which the link says for whoever gets it."""
    with browser.new_context(locale="vi-VN", reduced_motion="reduce") as context:
        one = Visit(context.new_page(), address).goto("")
        assert one.choices["lang"] == "vi"
        expect(one.page.get_by_role("textbox").first).to_have_value(write_running_sentence("vi"))
        one.expect_said("công bố")
        one.after_run(one.page.get_by_role("radio", name="English", exact=True).click)
        one.expect_in_link(lang="en", text=None)
        one.expect_said("gives")
        assert not one.errors


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_a_picture_wears_the_theme_from_its_first_frame(stroll, theme):
    one = stroll("tokens", scheme=theme.name)
    one.page.evaluate(WATCH)
    one.turn_to("scores")
    assert one.page.evaluate(WORN) == [theme.query]


def test_a_training_tells_how_far_it_is_without_a_click(visit):
    one = visit("masks", is_still=True, deep="side_by_side")
    again, bar = one.page.get_by_role("button", name="Train it here"), one.page.locator(BAR)
    again.click()
    expect(bar).to_contain_text(re.compile(r"batch [1-9]\d* of"))
    expect(again).to_be_disabled()
    one.page.get_by_role("button", name="Cancel").click()
    expect(bar).to_contain_text("cancelled")
    expect(again).to_be_enabled()
    one.ready()


ELSEWHERE = "https://elsewhere.example/"
REFUSED = """([act, elsewhere]) => new Promise((done) => {
  const told = (event) => done(event.effectiveDirective);
  addEventListener("securitypolicyviolation", told, { capture: true, once: true });
  const make = (tag, what) =>
    document.body.appendChild(Object.assign(document.createElement(tag), what));
  const acts = {
    "connect-src": () => fetch(elsewhere + location.search).catch(() => 0),
    "script-src-elem": () => make("script", { src: elsewhere }),
    "script-src-attr": () => make("b", { innerHTML: "<i onclick='0'></i>" }).firstChild.click(),
    "img-src": () => make("img", { src: elsewhere }),
    "frame-src": () => make("iframe", { src: elsewhere }),
    "form-action": () => make("form", { action: elsewhere }).submit(),
    "base-uri": () => make("base", { href: elsewhere }),
  };
  setTimeout(() => done(`${act} is allowed`), 3000);
  acts[act]();
})"""
ACTS = (
    *("connect-src", "script-src-elem", "script-src-attr", "img-src"),
    *("frame-src", "form-action", "base-uri"),
)


def test_nothing_comes_from_elsewhere_and_nothing_goes_there(address, reader):
    """Were somebody's script to run on a page, it could not tell anybody what it read; nor is what
    a visitor typed told to the site where a link leads. That no page wants any of this is held by
    each test with a browser: its console says what a page was refused."""
    page, heard = reader.new_page(), []

    def hear(route):
        heard.append(route.request.headers.get("referer"))
        route.abort()

    page.route(f"{ELSEWHERE}**", hear)
    page.goto(f"{address}/masks?text=a+private+sentence")
    page.locator(".hero").first.wait_for()
    assert [page.evaluate(REFUSED, [act, ELSEWHERE]) for act in ACTS] == list(ACTS)
    assert not heard
    with page.expect_event("requestfailed"):
        page.evaluate("(there) => { location.href = there; }", ELSEWHERE)
    assert heard == [None]
    page.close()
