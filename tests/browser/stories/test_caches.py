"""The KV cache, and the cards of all pages; shared keys and values."""

from playwright.sync_api import expect

from tests.support.visit import drag, drop


def test_kv_cache(story):
    one = story("kv_cache", words_read="5")
    slider, play = one.hero.locator("input[type=range]").first, one.hero.locator(".play")
    slider.press("ArrowLeft")
    one.expect_said("Step 4: the model reads record.")
    one.expect_in_link(words_read="4")
    sent = one.sent
    play.click()
    expect(play).to_have_text("Pause")
    one.expect_said("Step 6")
    assert one.sent == sent
    one.expect_said("All 7 words have been read")
    expect(play).to_have_text("Play")
    one.expect_in_link(words_read=None)


def veil(one):
    return one.page.get_by_role("button", name="hidden number, show")


CIRCLES = "[data-testid=stRadioOption] > div > :first-child"
COLOURS = "(circles) => circles.map((one) => getComputedStyle(one).borderColor)"
BOXES = "(parts) => parts.map((part) => part.getBoundingClientRect().toJSON())"


def test_cards_and_veils(story):
    """The parts of every page, on one that has all of them."""
    one = story("kv_cache", predict="true")
    group = one.page.get_by_role("radiogroup", name="Your prediction").first
    colours = {*group.locator(CIRCLES).evaluate_all(COLOURS)}
    assert colours == {"rgb(128, 128, 128)"}, "seen on a dark page as well"
    assert veil(one).count() == 0, "cards are closed"
    one.page.get_by_text("Four cache bugs").click()
    one.expect_in_link(deep="broken")
    expect(veil(one)).to_have_count(1)
    one.page.get_by_text("A cache that stops growing").click()
    one.expect_in_link(deep="windows")
    expect(veil(one)).to_have_count(1)
    line = one.page.get_by_text("The ring has slots 0 to")
    parts = [found.element_handle() for found in (line, veil(one))]
    text, tile = one.page.evaluate(BOXES, parts)  # at once: the page may be scrolling
    assert text["top"] - 10 < tile["top"] < text["bottom"], "it stands in the line"
    veil(one).press("Enter")
    one.expect_in_link(guess_windows="just show me")
    expect(one.page.get_by_text("goes into slot 0")).to_be_visible()


def test_shared_heads(story):
    one = story("shared_heads", heads="8", kv_heads="8")

    def chip(group, name):
        return one.hero.get_by_role("radiogroup", name=group).locator(f"button[value='{name}']")

    chip("Query heads", "2").click()  # no more KV heads than there are query heads
    expect(chip("KV heads", "4")).to_be_hidden()
    one.expect_in_link(heads="2")
    expect(chip("KV heads", "2")).to_have_attribute("aria-checked", "true")

    one.turn_to("shared_heads", deep="latent")
    figure = one.page.locator(".figure").filter(has=one.page.locator("input[type=range]"))
    slider, words, sent = figure.locator("input[type=range]"), figure.locator(".says"), one.sent
    drag(slider, 4)
    expect(words).to_contain_text("r + 8 = 64 + 8 = 72 numbers")
    expect(figure.locator(".panel").first.locator(".shape")).to_have_text(" 7 × 64")
    assert one.sent == sent
    drop(slider)
    one.expect_in_link(latent="64")
    expect(words).to_contain_text("r + 8 = 64 + 8 = 72 numbers")
