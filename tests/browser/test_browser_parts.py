"""The parts of a page in a browser: veils, cards, links to them, Back, and what is taken away."""

from playwright.sync_api import expect

MOVE = """(link) => {
  history.replaceState(history.state, '', link);
  dispatchEvent(new PopStateEvent('popstate', { state: history.state }));
}"""
"""What the browser does when its history brings an address."""


def veil(one):
    return one.page.get_by_role("button", name="hidden number, show")


BOXES = "(parts) => parts.map((part) => part.getBoundingClientRect().toJSON())"


def test_a_veil_in_a_card_is_opened_and_both_are_in_the_link(visit):
    one = visit("kv_cache", predict="true")
    assert veil(one).count() == 0, "cards are closed"
    one.page.get_by_text("Four cache bugs").click()
    one.wait_for_choice("deep", "broken")
    expect(veil(one)).to_have_count(1)
    one.page.get_by_text("Why bidirectional").click()
    one.wait_for_choice("deep", "both_ways")
    expect(veil(one)).to_have_count(1)
    line = one.ready().page.get_by_text("While 7 words are read")
    parts = [found.element_handle() for found in (line, veil(one))]
    text, tile = one.page.evaluate(BOXES, parts)  # at once: the page may be scrolling
    assert text["top"] - 10 < tile["top"] < text["bottom"], "it stands in the line"
    veil(one).focus()
    one.page.keyboard.press("Enter")
    one.wait_for_choice("guess_both_ways", "just show me")
    expect(one.page.get_by_text("older rows of K change 21 times")).to_be_visible()
    followed = visit("kv_cache", **one.choices)
    expect(followed.page.get_by_text("older rows of K change 21 times")).to_be_visible()


def test_a_guess_is_marked(visit):
    one = visit("kv_cache", predict="true", deep="both_ways")
    one.page.get_by_role("button", name="7", exact=True).click()
    expect(one.page.get_by_text("You chose 7. The answer is 21.")).to_be_visible()


def test_an_address_that_the_history_brings_is_read_as_a_whole(visit):
    """Streamlit drops what the page before had bound; `page.restore_link` undoes it."""
    one = visit("kv_cache", text="one two three four", seed="3")
    one.page.evaluate(MOVE, f"{one.address}/masks?text=five+six+seven&seed=4&predict=false")
    expect(one.page.get_by_role("heading", level=1, name="Masks")).to_be_visible()
    one.ready()
    one.wait_for_choice("text", "five six seven")
    one.wait_for_choice("seed", "4")
    expect(one.page.locator("input[type=text]").first).to_have_value("five six seven")


def test_who_comes_back_finds_the_card_open(visit):
    one = visit("kv_cache", deep="windows", sinks="4")
    one.page.get_by_role("navigation").get_by_role("link", name="Masks").click()
    expect(one.page.get_by_role("heading", level=1, name="Masks")).to_be_visible()
    one.ready().page.get_by_role("navigation").get_by_role("link", name="KV cache").click()
    expect(one.page.get_by_role("heading", level=1, name="KV cache")).to_be_visible()
    one.wait_for_choice("deep", "windows")
    one.wait_for_choice("sinks", "4")


def test_both_questions_answered_mark_the_page(visit):
    one = visit("kv_cache")
    for box in one.page.get_by_label("Your answer").all():
        box.fill("1,5")
        box.press("Enter")
        one.ready()
    one.wait_for_choice("pages_done", "08")
    link = one.page.get_by_role("navigation").get_by_role("link", name="KV cache")
    expect(link).to_contain_text("●")
