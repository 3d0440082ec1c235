"""The KV cache, and the cards of all pages; shared keys and values."""

import pytest
from playwright.sync_api import expect

from tests.browser.stories.story import drag, drop

SHELVES = """() => {
  const hero = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .map((host) => host.shadowRoot.querySelector('.hero')).find(Boolean);
  const seen = (name) => [...hero.querySelectorAll(name)]
    .filter((node) => Number(node.style.opacity) > 0.5).length;
  return {
    stored: seen('.strip.new, .strip:not(.again, .shelves-query)') / 2,
    again: seen('.strip.again') / 2,
    wrong: seen('.shelves-band.wrong'),
    totals: [...hero.querySelectorAll('.shelves-total')].map((node) => node.textContent).join(),
  };
}"""
"""How many rows of each kind are seen on the two shelves."""
SHARED = """() => {
  const hero = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .map((host) => host.shadowRoot.querySelector('.hero')).find(Boolean);
  const seen = (name) => [...hero.querySelectorAll(name)]
    .filter((node) => Number(node.style.opacity) > 0.5).length;
  return {
    boxes: seen('.sharing-box'), circles: seen('.sharing-circle'),
    wrong: seen('.sharing-circle.wrong'),
    stored: hero.querySelectorAll('.sharing-number')[1].textContent,
  };
}"""
"""What is seen of heads and of what they share."""


def expect_seen(one, look, **parts):
    """In the end so many parts of each kind are seen."""
    one.page.wait_for_function(
        f"(parts) => Object.entries(parts).every(([name, of]) => ({look})()[name] === of)",
        arg=parts,
    )


def test_kv_cache(story):
    one = story("kv_cache")
    slider, play = one.hero.locator("input[type=range]").first, one.hero.locator(".play")
    expect_seen(one, SHELVES, stored=7, again=7, wrong=0, totals="7,28")
    for _ in range(3):
        slider.press("ArrowLeft")
    one.expect_said("Step 4: the model reads record.", "it computes 1 row of K and reads 3 rows")
    expect_seen(one, SHELVES, stored=4, again=4, totals="4,10")
    one.expect_in_link(words_read="4")
    friday = one.hero.locator("[role=radiogroup] button", has_text="Friday")
    assert "All 7 words have been read" in one.says_after(friday)
    one.expect_in_link(words_read=None)

    one.turn("kv_cache", words_read="5")
    sent = one.sent
    play.click()
    expect(play).to_have_text("Pause")
    expect_seen(one, SHELVES, stored=6)
    assert one.sent == sent
    one.expect_said("All 7 words have been read")
    expect(play).to_have_text("Play")
    one.expect_in_link(words_read=None)
    play.click()  # from the end it begins again
    one.expect_said("Step 1: the model reads The.")
    play.click()

    one.turn("kv_cache")
    one.press("Let every word see later words")
    expect_seen(one, SHELVES, wrong=6, stored=7)
    one.expect_in_link(cache_mask="full", cache_layer="2")
    one.press("Reset")
    expect_seen(one, SHELVES, wrong=0)
    one.expect_in_link(cache_mask=None)
    one.press("A longer text")
    expect_seen(one, SHELVES, stored=24, again=24, totals="24,300")
    expect(one.page.get_by_text("With 24 words the cache saves 92 %")).to_be_visible()


def read(one):
    """How many words' keys are kept in the picture with all numbers."""
    return sum(line[0] is not None for line in one.values("layer 2: K"))


def test_all_numbers_of_a_step(story):
    one = story("kv_cache", deep="steps", words_read="4")
    keys, following = one.panel("layer 2: K"), one.page.get_by_role("button", name="Next step")
    previous = one.page.get_by_role("button", name="Previous step")
    keys.evaluate("(box) => box.scrollIntoView({ block: 'start' })")
    expect(keys).to_be_in_viewport()
    expect(following).to_be_in_viewport()
    kept = one.values("layer 2: K")[:4]
    following.click()
    assert read(one) == 5
    assert one.values("layer 2: K")[:4] == kept, "what is kept does not change"
    one.expect_in_link(words_read="5")
    one.expect_said("Step 5")
    previous.click()
    previous.click()
    assert read(one) == 3
    one.expect_in_link(words_read="3")
    assert [line[0] is not None for line in one.values("layer 2: Q")].index(True) == 2

    one.cell("layer 2: weights", 0, 1).click()
    card = one.page.locator(".card:not([hidden])", has_text="÷")
    shown = one.values("layer 2: weights")[0][1]
    result = card.locator(".lines").inner_text().rpartition("= ")[2]
    assert float(result) == pytest.approx(shown, abs=0.006)
    following.click()
    expect(card).to_have_count(0)
    playing = one.page.get_by_role("button", name="Play or pause", exact=True)
    playing.click()
    one.live_slider("Words read").press("End")  # a finger on the slider ends the playing
    expect(playing).to_have_text("Play")
    one.expect_in_link(words_read="7")
    assert read(one) == 7


def veil(one):
    return one.page.get_by_role("button", name="hidden number, show")


BOXES = "(parts) => parts.map((part) => part.getBoundingClientRect().toJSON())"


def test_cards_and_veils(story):
    """The parts of every page, on one that has all of them."""
    one = story("kv_cache", predict="true")
    chart = one.page.locator('.vega-embed[aria-label*="Multiply-adds for"]')
    expect(chart).to_have_count(0)
    group = one.page.get_by_role("radiogroup", name="Your prediction").first
    group.get_by_text("it doubles", exact=True).click()
    expect(chart).to_be_visible()
    expect(one.page.get_by_text("You chose it doubles. The answer is about")).to_be_visible()

    assert veil(one).count() == 0, "cards are closed"
    one.page.get_by_text("Four cache bugs").click()
    one.expect_in_link(deep="broken")
    expect(veil(one)).to_have_count(1)
    one.page.get_by_text("Why bidirectional").click()
    one.expect_in_link(deep="both_ways")
    expect(veil(one)).to_have_count(1)
    line = one.page.get_by_text("While 7 words are read")
    parts = [found.element_handle() for found in (line, veil(one))]
    text, tile = one.page.evaluate(BOXES, parts)  # at once: the page may be scrolling
    assert text["top"] - 10 < tile["top"] < text["bottom"], "it stands in the line"
    veil(one).press("Enter")
    one.expect_in_link(guess_both_ways="just show me")
    answer = one.page.get_by_text("older rows of K change 21 times")
    expect(answer).to_be_visible()
    one.turn("kv_cache", predict="true", deep="both_ways", guess_both_ways="7")
    expect(one.page.get_by_text("You chose 7. The answer is 21.")).to_be_visible()

    one.turn("kv_cache", deep="windows", sinks="4")
    one.page.get_by_role("navigation").get_by_role("link", name="Masks").click()
    expect(one.page.get_by_role("heading", level=1, name="Masks")).to_be_visible()
    one.ready().page.get_by_role("navigation").get_by_role("link", name="KV cache").click()
    expect(one.page.get_by_role("heading", level=1, name="KV cache")).to_be_visible()
    one.expect_in_link(deep="windows", sinks="4")
    for box in one.page.get_by_label("Your answer").all():
        box.fill("1,5")
        box.press("Enter")
        one.ready()
    one.expect_in_link(pages_done="08")
    link = one.page.get_by_role("navigation").get_by_role("link", name="KV cache")
    expect(link).to_contain_text("●")
    one.turn("masks", text="five six seven", seed="4")  # read as a whole: `page.restore_link`
    one.expect_in_link(text="five six seven", seed="4", sinks=None)
    expect(one.page.locator("input[type=text]").first).to_have_value("five six seven")


def test_shared_heads(story):
    one = story("shared_heads")

    def chip(group, name):
        return one.hero.get_by_role("radiogroup", name=group).locator(f"button[value='{name}']")

    expect_seen(one, SHARED, boxes=2, circles=4, wrong=0, stored="64")
    assert "2 × 1 × 16 = 32 numbers" in one.says_after(chip("KV heads", "1"))
    expect_seen(one, SHARED, boxes=1, circles=4, stored="32")
    one.expect_in_link(kv_heads="1")
    chip("Query heads", "8").click()
    one.expect_in_link(heads="8")
    expect_seen(one, SHARED, boxes=1, circles=8, stored="16")
    chip("KV heads", "8").click()
    one.expect_in_link(kv_heads="8")
    chip("Query heads", "2").click()  # no more KV heads than there are query heads
    expect_seen(one, SHARED, boxes=2, circles=2)
    expect(chip("KV heads", "4")).to_be_hidden()
    one.expect_in_link(heads="2")
    expect_seen(one, SHARED, boxes=2, circles=2)
    one.turn("shared_heads")
    one.press("Deal them wrongly")
    expect_seen(one, SHARED, wrong=2)
    one.expect_said("heads 1, 2 read keys and values of other heads")
    one.expect_in_link(dealing="turn")

    one.turn("shared_heads", predict="true", deep="latent")
    chart = one.page.locator('.vega-embed[aria-label*="The loss of four layers"]')
    expect(chart).to_have_count(0)
    asked = one.page.get_by_role("radiogroup", name="Your prediction").first
    asked.get_by_text("in between", exact=True).click()
    expect(one.page.get_by_text("The answer is worse than the untrained layer")).to_be_visible()
    expect(chart).to_be_visible()

    one.turn("shared_heads", deep="latent")
    figure = one.page.locator(".figure").filter(has=one.page.locator("input[type=range]"))
    slider, words, sent = figure.locator("input[type=range]"), figure.locator(".says"), one.sent
    drag(slider, 4)
    expect(words).to_contain_text("r + 8 = 64 + 8 = 72 numbers")
    expect(figure.locator(".panel").first.locator(".shape")).to_have_text(" 7 × 64")
    assert one.sent == sent
    drop(slider)
    one.expect_in_link(latent="64")
    expect(words).to_contain_text("r + 8 = 64 + 8 = 72 numbers")

    one.turn("shared_heads", weights="untrained", deep="weights")
    one.page.get_by_role("radio", name="causal", exact=True).click()
    one.expect_in_link(mask="causal")
    assert one.values("head 0")[0][1:] == [None] * 6
