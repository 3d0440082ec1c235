"""Visitors who differ: in language and theme, in what they remember and what they wait for."""

import re

import pytest
from playwright.sync_api import expect

from explainers.charts.theme import THEMES
from explainers.toys.sentence import SENTENCE, write_running_sentence
from tests.support.visit import Visit

LANGUAGE = "() => document.documentElement.lang"
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


def speak(one, name):
    one.after_run(one.page.get_by_role("radio", name=name, exact=True).click)


def turn_by_contents(one, name):
    one.after_run(one.page.get_by_role("navigation").get_by_role("link", name=name).click)


def test_the_switch_of_languages_keeps_every_choice(visit):
    own = {"text": "The judge rejected claims", "mask": "causal", "seed": "7"}
    one = visit("", is_still=True, deep="all_words", queries="across", **own)
    cells, values = one.page.locator("td.cell"), "(cells) => cells.map((cell) => cell.value)"
    numbers = cells.evaluate_all(values)
    speak(one, "Tiếng Việt")
    one.expect_in_link(lang="vi")
    assert one.page.evaluate(LANGUAGE) == "vi"
    assert one.choices.items() >= {"queries": "across", **own}.items()
    expect(cells).to_have_count(len(numbers))
    assert cells.evaluate_all(values) == numbers
    turn_by_contents(one, "Mặt nạ")
    assert one.choices.items() >= {"seed": "7", "lang": "vi"}.items()
    speak(one, "English")
    one.expect_in_link(lang=None, seed="7")
    assert one.page.evaluate(LANGUAGE) == "en"


def test_who_has_chosen_no_sentence_gets_that_of_the_language(browser, address):
    """In a browser that speaks one of ours, which the link says for whoever gets it."""
    with browser.new_context(locale="vi-VN", reduced_motion="reduce") as context:
        one = Visit(context.new_page(), address).goto("")
        assert one.choices["lang"] == "vi"
        sentence = one.page.get_by_role("textbox").first
        expect(sentence).to_have_value(write_running_sentence("vi"))
        one.expect_said("công bố")
        turn_by_contents(one, "Chú ý chéo")
        expect(sentence).to_have_value(SENTENCE)  # its model translates from English
        speak(one, "English")
        one.expect_in_link(lang="en")
        turn_by_contents(one, "Attention in one picture")
        expect(sentence).to_have_value(SENTENCE)
        assert "text" not in one.choices
        assert not one.errors


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_a_picture_wears_the_theme_from_its_first_frame(stroll, theme):
    one = stroll("tokens", scheme=theme.name)
    one.page.evaluate(WATCH)
    one.turn_to("scores")
    assert one.page.evaluate(WORN) == [theme.query]


def test_another_visitor_gets_pictures_while_one_trains(visit, browser, address):
    with browser.new_context() as elsewhere:
        other = Visit(elsewhere.new_page(), address).goto("scores", deep="steps")
        drawn = other.drawn()
        trains = visit("masks", deep="side_by_side")
        again = trains.page.get_by_role("button", name="Train it here")
        again.click()
        bar = trains.page.get_by_test_id("stProgress")
        expect(bar).to_contain_text(re.compile(r"batch [1-9]\d* of"))
        expect(again).to_be_disabled()
        other.page.get_by_role("radio", name="weights", exact=True).click()
        assert other.redrawn(drawn) != drawn
        assert not other.errors
        trains.page.get_by_role("button", name="Cancel").click()
        expect(bar).to_contain_text("cancelled")
        expect(again).to_be_enabled()
        trains.ready()


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
