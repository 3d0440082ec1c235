"""The picture of queries, keys and values in a browser: it changes without a run."""

import re

from playwright.sync_api import expect

from explainers.chapters.common.one_head import attend
from explainers.chapters.query_key_value.hero import make_layers
from explainers.toys.sentence import SENTENCE

TOKENS = tuple(SENTENCE.split())
LOWEST_TOP = 260


def expect_shares(one, shares):
    """The percentages beside the words, once they have stopped moving."""
    expect(one.page.locator(".hero .share")).to_have_text(shares, use_inner_text=True)


def percents(learned, own, word):
    weights = attend(make_layers(TOKENS)[learned, own])[1].weights[word].tolist()
    return [
        "0 %" if weight == 0 else "< 1 %" if weight < 0.005 else f"{int(100 * weight + 0.5)} %"
        for weight in weights
    ]


def test_the_picture_is_there_and_changes_without_a_run(visit):
    one = visit("query_key_value")
    stage = one.page.locator(".hero .stage")
    assert stage.bounding_box()["y"] <= LOWEST_TOP
    expect_shares(one, percents("trained", "own", 2))
    expect(one.says).to_contain_text("announced")
    words = one.says.inner_text()
    said = one.says_after(one.page.get_by_role("radio", name=re.compile("^Friday")))
    assert "Friday" in said, "the picture changed by itself"
    assert said != words
    expect(one.page.locator(".views-asker")).to_have_text("Friday")
    one.wait_for_choice("word", "6")
    expect_shares(one, percents("trained", "own", 6))
    one.page.get_by_role("radio", name="W_K = W_Q").click()
    one.page.get_by_role("radio", name="untrained").click()
    one.wait_for_choice("weights", "untrained")
    one.wait_for_choice("w_k", "w_q")
    expect_shares(one.ready(), percents("untrained", "w_q", 6))
    followed = visit("query_key_value", **one.choices)
    expect_shares(followed, percents("untrained", "w_q", 6))


def test_pointing_shows_another_word_for_as_long(visit):
    one = visit("query_key_value")
    one.page.get_by_role("radio", name=re.compile("^record")).hover()
    expect(one.page.locator(".views-asker")).to_have_text("record")
    size = one.page.locator(".hero .stage").bounding_box()
    one.page.mouse.move(size["x"] + 5, size["y"] + 5)
    expect(one.page.locator(".views-asker")).to_have_text("announced")
    assert "word" not in one.choices


def test_the_keyboard_walks_through_words_and_numbers(visit):
    one = visit("query_key_value")
    one.page.get_by_role("radio", name=re.compile("^announced")).focus()
    one.page.keyboard.press("ArrowDown")
    one.wait_for_choice("word", "3")
    query = one.page.get_by_role("slider", name=re.compile("^query of record"))
    query.focus()
    one.page.keyboard.press("ArrowRight")
    column = int(query.get_attribute("aria-valuenow"))
    views, _steps = attend(make_layers(TOKENS)["trained", "own"])
    value = f"{views.query[3, column].item():.2f}".replace("-", "−")
    expect(one.says).to_contain_text(f"column {column} of W_Q")
    expect(one.says).to_contain_text(value)


def test_an_experiment_sets_the_picture_and_takes_it_back(visit):
    one = visit("query_key_value")
    card = one.page.locator(".experiments .card", has_text="Make W_K = W_Q")
    card.get_by_role("button").click()
    expect(card).to_contain_text("the same in both directions")
    assert one.says.get_attribute("data-name").startswith("hero_tied")
    one.wait_for_choice("w_k", "w_q")
    one.page.get_by_role("button", name="Reset", exact=True).click()
    one.wait_for_choice("w_k", None)
    expect(one.page.locator(".views-asker")).to_have_text("announced")
