"""The KV cache in a browser: steps played, stepped back and clicked; times taken."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_browser import cell, live_slider, panel, values

PATH = "kv_cache"
KEYS = "layer 2: K"


def read(visit):
    """How many words' keys are kept in the picture."""
    return sum(line[0] is not None for line in values(visit, KEYS))


def button(visit, name):
    return visit.page.get_by_role("button", name=name, exact=True)


def test_a_step_reads_one_word_more_or_one_less(visit):
    one = visit(PATH)
    kept = values(one, KEYS)[:4]
    button(one, "Next step").click()
    assert read(one) == 5
    assert values(one, KEYS)[:4] == kept, "what is kept does not change"
    one.wait_for_choice("words_read", "5")
    button(one, "Previous step").click()
    button(one, "Previous step").click()
    one.wait_for_choice("words_read", "3")
    assert read(one.ready()) == 3
    [query] = [line for line in values(one, "layer 2: Q") if line[0] is not None]
    assert values(one, "layer 2: Q")[2] == query, "only the new word asks"


def test_play_reads_on_without_the_server_and_stops_at_the_end(visit):
    one = visit(PATH, words_read="5")
    play, messages = button(one, "Play or pause"), one.sent
    play.click()
    expect(play).to_have_text("Pause")
    expect(cell(one, KEYS, 5, 0)).not_to_be_empty()
    assert one.sent == messages
    expect(play).to_have_text("Play")
    one.wait_for_choice("words_read", "7")
    assert read(one.ready()) == 7
    play.click()
    assert read(one) == 1, "from the end it begins again"
    expect(cell(one, KEYS, 1, 0)).not_to_be_empty()
    play.click()
    one.wait_for_choice("words_read", re.findall(r"\d+", heard(one))[0])


def heard(visit):
    return live_slider(visit, "Words read").get_attribute("aria-valuetext")


def test_a_finger_on_the_slider_ends_the_playing(visit):
    one = visit(PATH, words_read="1")
    button(one, "Play or pause").click()
    live_slider(one, "Words read").press("End")
    expect(button(one, "Play or pause")).to_have_text("Play")
    one.wait_for_choice("words_read", "7")
    assert read(one.ready()) == 7


def test_a_click_on_a_weight_shows_its_softmax(visit):
    one = visit(PATH)
    cell(one, "layer 2: weights", 0, 1).click()
    card = one.page.locator(".card:not([hidden])")
    expect(card).to_contain_text("÷")
    [shown] = values(one, "layer 2: weights")
    result = card.locator(".lines").inner_text().rpartition("= ")[2]
    assert float(result) == pytest.approx(shown[1], abs=0.006)
    button(one, "Next step").click()
    expect(card).to_have_count(0)


def test_the_slider_stays_in_sight_of_the_layer_that_it_moves(visit):
    one = visit(PATH)
    panel(one, KEYS).evaluate("box => box.scrollIntoView({block: 'start'})")
    expect(panel(one, KEYS)).to_be_in_viewport()
    expect(button(one, "Next step")).to_be_in_viewport()


def test_a_legend_of_what_cannot_be_negative_begins_with_0(visit):
    one = visit(PATH, deep="broken")
    legends = [
        panel(one, name).locator("xpath=ancestor::*[@class='figure']").locator(".legend")
        for name in (KEYS, "how wrong")
    ]
    expect(legends[0]).to_contain_text("negative")
    expect(legends[1]).to_have_text("0largest")


def test_answers_reveal_the_steps_and_the_mistakes(visit):
    one = visit(PATH, predict="true")
    expect(panel(one, KEYS)).to_have_count(0)
    group = one.page.get_by_role("radiogroup", name="Your prediction").first
    group.get_by_text("1", exact=True).click()
    expect(panel(one, KEYS)).to_be_visible()
    expect(one.page.get_by_text("Right: 1.")).to_be_visible()


def test_times_are_taken_on_request(visit):
    one = visit(PATH, deep="timing")
    one.page.get_by_role("button", name="Measure it here").click()
    expect(one.page.locator('.vega-embed[aria-label*="one more token"]')).to_be_visible()
    expect(one.page.get_by_text("length 7 of 7")).to_be_visible()
    expect(one.page.get_by_text("At 1,024 words one more takes")).to_be_visible()
    expect(one.page.get_by_role("button", name="Measure it here")).to_be_enabled()
