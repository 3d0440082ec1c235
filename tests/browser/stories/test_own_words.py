"""A sentence of the reader's own is typed once, and a real model reads it."""

import re

from playwright.sync_api import expect

from explainers.chapters.common.own_words import read_with
from explainers.toys.sentence import read_sentence
from explainers.ui.text.numbers import write_percent
from tests.pages.test_reading import DOG
from tests.support.tiers import take_turns

PLACES = "query_key_value", "scores", "masks", "many_heads", "shared_heads"
LOADING = 60_000
"""Milliseconds; the model is loaded beside the page."""


def test_own_words_are_typed_once_and_read_by_a_real_model_also_on_the_next_page(story, minilm):
    """What it reads in them, on each page: tests/pages/test_reading.py."""
    one = story("")
    field, words = (
        one.page.get_by_role("textbox", name="Sentence"),
        one.hero.locator(".words button"),
    )
    field.fill(DOG)
    field.press("Enter")
    found = read_with(minilm, read_sentence(DOG))
    assert found
    expect(words).to_have_text([*found.tokens], timeout=LOADING)
    expect(one.says).to_contain_text(write_percent(max(found.weigh_words()[found.telling_word])))
    one.after_run(one.page.get_by_role("navigation").get_by_role("link", name="Masks").click)
    expect(one.page.get_by_role("heading", level=1, name="Masks")).to_be_visible()
    expect(words).to_have_text([*found.tokens])
    expect(one.page.get_by_text("instead:")).to_have_count(0)


def test_the_models_own_tokens_can_be_hidden_and_keep_their_shares(story, minilm):
    """The others' weights stay, the sentence tells what is hidden, and so does the link."""
    one = story("", text=DOG)
    found = read_with(minilm, read_sentence(DOG))
    assert found
    words = one.hero.locator(".words button")
    expect(words).to_have_text([*found.tokens], timeout=LOADING)
    for place in ["", *take_turns([*PLACES], 2)]:
        one.turn_to(place, text=DOG, marks="shown", word=str(found.telling_word))
        expect(words.first).to_be_visible()
        before = one.hero.locator(".words button").nth(5).get_attribute("aria-label")
        switch = one.hero.get_by_role("radiogroup", name="[CLS] and [SEP]")
        switch.get_by_role("radio", name="shown").press("ArrowRight")
        for own in found.own_positions:
            expect(words.nth(own)).to_be_hidden()
        expect(one.says).to_contain_text(re.compile(r"Hidden.*: .*% to \[CLS\] and .*% to \[SEP\]"))
        if place in ("", "query_key_value", "scores"):  # of one head, nothing masked
            assert words.nth(5).get_attribute("aria-label") == before
            share = write_percent(found.weigh_words()[found.telling_word][0])
            expect(one.says).to_contain_text(f"{share} to [CLS]")
        words.nth(1).focus()
        words.nth(1).press("ArrowLeft")  # not to what is hidden
        expect(words.nth(len(found.tokens) - 2)).to_be_focused()
        one.expect_in_link(marks="hidden", word=str(len(found.tokens) - 2))
    one.turn_to("", text=DOG, marks="hidden", word="0")
    expect(words.first).to_be_hidden()
    expect(one.says).to_contain_text("My gives")
