"""The picture of the four steps in a browser: what a reader chooses changes it at once."""

import re

import pytest
from playwright.sync_api import expect

from explainers.attention.single_head import single_head
from explainers.toys.readable_head import FILM_SEED, load_readable_layer
from explainers.toys.sentence import SENTENCE
from explainers.ui.text.numbers import write_percent

TOKENS = tuple(SENTENCE.split())
CLICK = """(word) => {
  word.click();
  return [word.getRootNode().querySelector('.says').textContent, word.ariaLabel];
}"""
"""Click a word; the sentence and the word's name right after it."""


@pytest.fixture(scope="module")
def head():
    return single_head(*load_readable_layer(TOKENS, "full", FILM_SEED).single())


def shares(one):
    """The percentages of the third step."""
    return one.page.locator(".hero .share").all_inner_texts()


def settled(one, expected):
    expect(one.page.locator(".hero .share")).to_have_text(expected)


def test_the_four_steps_are_seen_without_a_click(visit, head):
    one = visit("scores")
    stage = one.page.locator(".hero .stage").bounding_box()
    assert stage["y"] <= 260
    assert stage["height"] <= 430
    bottom = one.page.locator(".hero .hint").bounding_box()
    assert bottom["y"] + bottom["height"] <= 800
    settled(one, [write_percent(weight) for weight in head.weights[2].tolist()])
    heads = one.page.locator(".step-head b").all_inner_texts()
    assert heads == ["1 Products", "2 Scores", "3 Weights", "4 Output"]
    output = one.page.locator(".hero .strip[aria-label^=output]").get_attribute("aria-label")
    numbers = [float(number.replace("−", "-")) for number in output.split()[1:]]
    assert numbers == pytest.approx(head.output[2].tolist(), abs=0.0051)


def test_another_word_changes_picture_and_sentence_without_the_server(visit, head):
    one = visit("scores")
    said = one.says.inner_text()
    word = one.page.locator(".words button", has_text="Friday")
    told, name = word.evaluate(CLICK)  # no server can answer so fast
    largest = write_percent(head.weights[6].max().item())
    assert told != said
    assert largest in told
    assert name.endswith(f"weight {write_percent(head.weights[6, 6].item())}")
    settled(one, [write_percent(weight) for weight in head.weights[6].tolist()])
    one.wait_for_choice("word", "6")
    word.press("ArrowDown")
    settled(one, [write_percent(weight) for weight in head.weights[0].tolist()])


def test_a_temperature_is_dragged_in_the_browser_and_brought_back(visit, head):
    one = visit("scores")
    slider = one.page.locator(".hero .temperature input")
    parts = one.page.locator(".hero .part")
    before = parts.nth(1).bounding_box()["height"]
    slider.press("End")
    hot = [int(re.sub(r"\D", "", share)) for share in shares(one)]
    assert max(hot) - min(hot) < 12
    assert parts.nth(1).bounding_box()["height"] < before / 2
    one.wait_for_choice("divided_by", "64")
    one.page.get_by_role("button", name="Divide by √4 = 2").click()
    settled(one, [write_percent(weight) for weight in head.weights[2].tolist()])
    one.wait_for_choice("divided_by", None)


def test_what_can_be_tried_is_shown_and_taken_back(visit, head):
    one = visit("scores")
    one.page.get_by_role("button", name="The first word").click()
    settled(one, ["100\N{NO-BREAK SPACE}%", *["0\N{NO-BREAK SPACE}%"] * 6])
    expect(one.says).to_contain_text("exactly the value of The")
    expect(one.page.locator(".hero .card.on p")).to_contain_text("sees only itself")
    one.wait_for_choice("mask", "causal")
    one.wait_for_choice("word", "0")
    one.page.get_by_role("button", name="Reset", exact=True).click()
    settled(one, [write_percent(weight) for weight in head.weights[2].tolist()])
    one.wait_for_choice("mask", None)
