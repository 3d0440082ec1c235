"""Languages in a real browser: the switch, the browser's own, and links that all share."""

from playwright.sync_api import expect

from explainers.toys.sentence import SENTENCE, write_running_sentence
from tests.support.browser_fixtures import Visit

VALUES = """() => [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')].flatMap(
  (host) => [...host.shadowRoot.querySelectorAll('td.cell')].map((cell) => cell.value))"""
"""The numbers in linked matrices, which have no language."""
OWN = {"text": "The judge rejected claims", "mask": "causal", "seed": "7"}
TWIN = write_running_sentence("vi")
LANGUAGE = "() => document.documentElement.lang"


def title(visit):
    return visit.page.locator("h1").inner_text()


def option(visit, name):
    return visit.page.get_by_role("radio", name=name, exact=True)


def speak(visit, name):
    visit.after_run(option(visit, name).click)


def turn_by_contents(visit, name):
    link = visit.page.get_by_role("navigation").get_by_role("link", name=name)
    visit.after_run(link.click)


def test_the_switch_and_a_link_keep_every_choice(visit):
    one = visit("", is_still=True, deep="all_words", queries="across", **OWN)
    numbers, english = one.page.evaluate(VALUES), title(one)
    speak(one, "Tiếng Việt")
    one.wait_for_choice("lang", "vi")
    assert one.page.evaluate(LANGUAGE) == "vi"
    assert one.choices.items() >= {"queries": "across", **OWN}.items()
    assert title(one) != english
    one.page.wait_for_function(f"() => ({VALUES})().length")  # the card is drawn anew
    assert one.page.evaluate(VALUES) == numbers
    turn_by_contents(one, "Từ điểm chú ý đến đầu ra")
    assert one.choices.items() >= {"mask": "causal", "seed": "7", "lang": "vi"}.items()
    speak(one, "English")
    one.wait_for_choice("lang", None)
    assert one.page.evaluate(LANGUAGE) == "en"
    expect(one.page.get_by_text("Study mode")).to_be_visible()
    one.wait_for_choice("mask", "causal")
    link = {"deep": "all_words", "queries": "across", **OWN}
    one.turn_to("", lang="vi", **link)
    assert one.page.evaluate(VALUES) == numbers
    assert link.items() <= one.choices.items()


def test_what_is_chosen_in_another_language_stands_in_english_in_the_link(visit):
    one = visit("scores", is_still=True, lang="vi")
    before = one.drawn()
    one.after_run(option(one, "nhân quả").click)
    one.wait_for_choice("mask", "causal")
    assert one.drawn() != before
    one.after_run(one.page.go_back)
    one.wait_for_choice("mask", None)
    assert one.drawn() == before
    assert option(one, "đầy đủ").get_attribute("aria-checked") == "true"


def test_who_has_chosen_no_sentence_gets_that_of_the_language(browser, address):
    """In a browser that speaks one of ours, which the link says for whoever gets it."""
    with browser.new_context(locale="vi-VN", reduced_motion="reduce") as context:
        one = Visit(context.new_page(), address).goto("")
        assert one.page.evaluate(LANGUAGE) == "vi"
        assert one.choices["lang"] == "vi"
        sentence = one.page.get_by_role("textbox").first
        expect(sentence).to_have_value(TWIN)
        expect(one.says).to_contain_text("công bố")
        turn_by_contents(one, "Truy vấn, khóa, giá trị")
        expect(sentence).to_have_value(TWIN)
        turn_by_contents(one, "Chú ý chéo")
        expect(sentence).to_have_value(SENTENCE)  # its model translates from English
        speak(one, "English")
        one.wait_for_choice("lang", "en")
        turn_by_contents(one, "Attention in one picture")
        expect(sentence).to_have_value(SENTENCE)
        assert "text" not in one.choices
        assert not one.errors
