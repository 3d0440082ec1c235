"""The KV cache in a browser: two shelves that are filled, every number of a step, times taken."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_browser import cell, live_slider, panel, values

PATH = "kv_cache"
KEYS = "layer 2: K"
STEPS = {"deep": "steps"}
SHELVES = """() => {
  const host = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .find((one) => one.shadowRoot.querySelector('.hero'));
  const hero = host.shadowRoot.querySelector('.hero');
  const all = (name) => [...hero.querySelectorAll(name)];
  const isSeen = (node) => Number(node.style.opacity) > 0.5;
  return {
    stored: all('.strip.new, .strip:not(.again, .shelves-query)').filter(isSeen).length / 2,
    fresh: all('.strip.new').filter(isSeen).length / 2,
    again: all('.strip.again').filter(isSeen).length / 2,
    wrong: all('.shelves-band.wrong').filter(isSeen).length,
    lines: all('.shelves-line').filter(isSeen).length,
    totals: all('.shelves-total').map((node) => node.textContent),
    counts: all('.shelves-counts b').map((node) => node.textContent),
    says: hero.querySelector('.says').textContent,
  };
}"""
"""What is seen on the two shelves, as numbers of rows."""


def shelves(one):
    return one.page.evaluate(SHELVES)


def expect_rows(one, **rows):
    """In the end this many rows of each kind are seen."""
    one.page.wait_for_function(
        f"(rows) => Object.entries(rows).every(([kind, count]) => ({SHELVES})()[kind] === count)",
        arg=rows,
        timeout=10_000,
    )


def slider(one):
    return one.page.locator(".hero input[type=range]")


def test_the_shelves_are_seen_without_a_click(visit):
    one = visit(PATH)
    expect_rows(one, stored=7, fresh=1, again=7, wrong=0, lines=6)
    shown = shelves(one)
    assert shown["totals"] == ["7", "28"]
    assert shown["counts"] == ["1", "7", "6", "0", "224", "0", "0", ""]
    assert "All 7 words have been read" in shown["says"]


def test_a_step_changes_picture_and_sentence_without_the_server(visit):
    one = visit(PATH)
    slider(one).focus()
    for _ in range(3):
        one.page.keyboard.press("ArrowLeft")
    expect(one.says).to_contain_text("Step 4: the model reads record.")
    expect(one.says).to_contain_text("it computes 1 row of K and reads 3 rows that were stored")
    expect(one.says).to_contain_text("Without it, 4 rows. So far: 4 against 10.")
    expect_rows(one, stored=4, fresh=1, again=4, lines=3)
    assert shelves(one)["totals"] == ["4", "10"]
    one.wait_for_choice("words_read", "4")
    expect(one.ready().page.get_by_text("One step, record in layer 1")).to_be_visible()
    friday = one.page.locator(".hero [role=radiogroup] button", has_text="Friday")
    assert "All 7 words have been read" in one.says_after(friday)
    expect_rows(one, stored=7)
    one.wait_for_choice("words_read", None)


def test_play_reads_on_without_the_server_and_stops_at_the_end(visit):
    one = visit(PATH, words_read="5")
    messages = one.sent
    one.page.locator(".hero .play").click()
    expect(one.page.locator(".hero .play")).to_have_text("Pause")
    expect_rows(one, stored=6, again=6)
    assert one.sent == messages
    expect(one.says).to_contain_text("All 7 words have been read")
    expect(one.page.locator(".hero .play")).to_have_text("Play", timeout=10_000)
    one.wait_for_choice("words_read", None)
    one.page.locator(".hero .play").click()
    expect(one.says).to_contain_text("Step 1: the model reads The.")
    one.page.locator(".hero .play").click()
    assert shelves(one)["stored"] <= 2, "from the end it began again"


def test_words_that_see_later_ones_spoil_what_is_stored(visit):
    one = visit(PATH)
    one.page.get_by_role("button", name="Let every word see later words").click()
    expect_rows(one, wrong=6, stored=7)
    expect(one.says).to_contain_text("changes the rows of all older words in layer 2: 6 of 7 rows")
    assert float(shelves(one)["counts"][6]) > 0.1
    one.wait_for_choice("cache_mask", "full")
    one.wait_for_choice("cache_layer", "2")
    one.page.get_by_role("button", name="Reset", exact=True).click()
    expect_rows(one, wrong=0)
    one.wait_for_choice("cache_mask", None)


def test_a_longer_text_is_read_to_its_end(visit):
    one = visit(PATH)
    one.page.get_by_role("button", name="A longer text").click()
    expect_rows(one, stored=24, again=24)
    assert shelves(one)["totals"] == ["24", "300"]
    expect(one.page.get_by_text("With 24 words the cache saves 92 %")).to_be_visible()


def read(visit):
    """How many words' keys are kept in the picture with all numbers."""
    return sum(line[0] is not None for line in values(visit, KEYS))


def button(visit, name):
    return visit.page.get_by_role("button", name=name, exact=True)


def test_a_step_reads_one_word_more_or_one_less(visit):
    one = visit(PATH, words_read="4", **STEPS)
    kept = values(one, KEYS)[:4]
    button(one, "Next step").click()
    assert read(one) == 5
    assert values(one, KEYS)[:4] == kept, "what is kept does not change"
    one.wait_for_choice("words_read", "5")
    expect(one.ready().says).to_contain_text("Step 5")
    button(one, "Previous step").click()
    button(one, "Previous step").click()
    one.wait_for_choice("words_read", "3")
    assert read(one.ready()) == 3
    [query] = [line for line in values(one, "layer 2: Q") if line[0] is not None]
    assert values(one, "layer 2: Q")[2] == query, "only the new word asks"


def test_a_finger_on_the_slider_ends_the_playing(visit):
    one = visit(PATH, words_read="1", **STEPS)
    button(one, "Play or pause").click()
    live_slider(one, "Words read").press("End")
    expect(button(one, "Play or pause")).to_have_text("Play")
    one.wait_for_choice("words_read", "7")
    assert read(one.ready()) == 7


def test_a_click_on_a_weight_shows_its_softmax(visit):
    one = visit(PATH, words_read="4", **STEPS)
    cell(one, "layer 2: weights", 0, 1).click()
    card = one.page.locator(".card:not([hidden])", has_text="÷")
    expect(card).to_contain_text("÷")
    [shown] = values(one, "layer 2: weights")
    result = card.locator(".lines").inner_text().rpartition("= ")[2]
    assert float(result) == pytest.approx(shown[1], abs=0.006)
    button(one, "Next step").click()
    expect(card).to_have_count(0)


def test_the_slider_stays_in_sight_of_the_layer_that_it_moves(visit):
    one = visit(PATH, **STEPS)
    panel(one, KEYS).evaluate("box => box.scrollIntoView({block: 'start'})")
    expect(panel(one, KEYS)).to_be_in_viewport()
    expect(button(one, "Next step")).to_be_in_viewport()


def test_a_legend_of_what_cannot_be_negative_begins_with_0(visit):
    one = visit(PATH, deep="broken")
    legends = [
        panel(one, name).locator("xpath=ancestor::*[@class='figure']").locator(".legend")
        for name in ("K", "how wrong")
    ]
    expect(legends[0]).to_contain_text("negative")
    expect(legends[1]).to_have_text("0largest")


def test_an_answer_reveals_the_work(visit):
    one = visit(PATH, predict="true")
    chart = one.page.locator('.vega-embed[aria-label*="Multiply-adds for"]')
    expect(chart).to_have_count(0)
    group = one.page.get_by_role("radiogroup", name="Your prediction").first
    group.get_by_text("it doubles", exact=True).click()
    expect(chart).to_be_visible()
    expect(
        one.page.get_by_text("You chose it doubles. The answer is about four times")
    ).to_be_visible()


def test_times_are_taken_on_request(visit):
    one = visit(PATH, deep="timing")
    one.page.get_by_role("button", name="Measure it here").click()
    expect(one.page.locator('.vega-embed[aria-label*="one more token"]')).to_be_visible()
    expect(one.page.get_by_text("length 7 of 7")).to_be_visible()
    expect(one.page.get_by_text(re.compile("At 1,024 words, one more word"))).to_be_visible()
    expect(one.page.get_by_role("button", name="Measure it here")).to_be_enabled()
