"""Languages in a real browser: the switch, the browser's own, and links that all share."""

import pytest
from playwright.sync_api import expect

from explainers.toys.sentence import SENTENCE, write_running_sentence
from tests.browser.test_looks import OUTSIDE, PHONE, PROJECTOR, shown, violations
from tests.support.browser_fixtures import PAGES, Visit

VALUES = """() => [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')].flatMap(
  (host) => [...host.shadowRoot.querySelectorAll('td.cell')].map((cell) => cell.value))"""
"""The numbers in linked matrices, which have no language."""
OWN = {"text": "The judge rejected claims"}
TWIN = write_running_sentence("vi")
LANGUAGE = "() => document.documentElement.lang"


def title(visit):
    return visit.page.locator("h1").inner_text()


def option(visit, name):
    return visit.page.get_by_role("radio", name=name, exact=True)


def test_a_link_is_one_picture_in_every_language(visit):
    link = {"mask": "causal", "deep": "all_words", "queries": "across"} | OWN
    english, other = visit("", **link), visit("", lang="vi", **link)
    assert title(english) != title(other)
    assert english.page.evaluate(VALUES) == other.page.evaluate(VALUES)
    assert link.items() <= other.choices.items()
    assert other.page.evaluate(LANGUAGE) == "vi"


def test_what_is_chosen_in_another_language_stands_in_english_in_the_link(visit):
    one = visit("scores", lang="vi")
    before = one.drawn()
    option(one, "nhân quả").click()
    one.wait_for_choice("mask", "causal")
    causal = one.redrawn(before)
    one.page.go_back()
    one.wait_for_choice("mask", None)
    assert one.redrawn(causal) == before
    assert option(one, "đầy đủ").get_attribute("aria-checked") == "true"


def test_who_has_chosen_no_sentence_gets_that_of_the_language(visit):
    one = visit("")
    sentence = one.page.get_by_role("textbox").first
    option(one, "Tiếng Việt").click()
    expect(sentence).to_have_value(TWIN)
    expect(one.says).to_contain_text("công bố")
    assert "text" not in one.choices
    contents = one.page.get_by_role("navigation")
    contents.get_by_role("link", name="Truy vấn, khóa, giá trị").click()
    expect(sentence).to_have_value(TWIN)
    contents.get_by_role("link", name="Chú ý chéo").click()
    expect(sentence).to_have_value(SENTENCE)  # its model translates from English
    option(one, "English").click()
    contents.get_by_role("link", name="Attention in one picture").click()
    expect(sentence).to_have_value(SENTENCE)
    assert "text" not in one.ready().choices


def test_the_switch_keeps_every_choice(visit):
    one = visit("", mask="causal", seed="7", deep="all_words", **OWN)
    numbers = one.page.evaluate(VALUES)
    option(one, "Tiếng Việt").click()
    one.wait_for_choice("lang", "vi")
    one.ready()
    assert one.choices.items() >= {"mask": "causal", "seed": "7"}.items()
    one.page.wait_for_function(f"() => ({LANGUAGE})() === 'vi'")
    one.page.wait_for_function(f"() => ({VALUES})().length")  # the card is drawn anew
    assert one.page.evaluate(VALUES) == numbers
    contents = one.page.get_by_role("navigation")
    contents.get_by_role("link", name="Từ điểm chú ý đến đầu ra").click()
    one.page.wait_for_function("() => location.pathname === '/scores'")
    one.ready()
    assert one.choices.items() >= {"mask": "causal", "seed": "7", "lang": "vi"}.items()
    option(one, "English").click()
    one.wait_for_choice("lang", None)
    one.page.wait_for_function(f"() => ({LANGUAGE})() === 'en'")
    one.wait_for_choice("mask", "causal")


def test_a_browser_is_spoken_to_in_its_language(browser, address):
    with browser.new_context(locale="vi-VN") as context, context.new_page() as page:
        one = Visit(page, address).goto("scores")
        assert one.page.evaluate(LANGUAGE) == "vi"
        assert one.choices["lang"] == "vi", "for whoever gets the link"
        switch_to_english(one)
        one.wait_for_choice("lang", "en")
        assert not one.errors


@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)
def test_a_page_in_another_language(stroll, path):
    """What axe finds, what stands out of the window, and the way back."""
    one = stroll(path, tab="languages", lang="vi")
    assert violations(one) == []
    for size in (PROJECTOR, PHONE):
        assert shown(one, size).page.evaluate(OUTSIDE) == []
    shown(one, PROJECTOR)
    switch_to_english(one)


def switch_to_english(visit):
    option(visit, "English").click()
    visit.page.wait_for_function(f"() => ({LANGUAGE})() === 'en'")
    expect(visit.page.get_by_text("Study mode")).to_be_visible()
    assert visit.choices.get("lang") != "vi"
