"""A sentence of the reader's own is typed once, and every page with a head draws it."""

import re

from playwright.sync_api import expect

from explainers.chapters.common.own_words import read_with
from explainers.chapters.kv_cache.reading import read_model_text
from explainers.chapters.relative_positions.hero import read_rotary_head
from explainers.toys.sentence import SENTENCE, read_sentence
from explainers.ui.text.numbers import write_percent
from tests.pages.test_reading import DOG, SENTENCES
from tests.support.tiers import take_turns

PLACES = "query_key_value", "scores", "masks", "many_heads", "shared_heads"
WITHOUT_BUTTONS = ("long_sequences",)
"""Where no word of the picture is a button."""
LOADING = 60_000
"""Milliseconds; the model is loaded beside the page."""


def test_own_words_are_typed_once_and_read_by_a_real_model_on_every_page(story, minilm, smollm2):
    one = story("")
    field = one.page.get_by_role("textbox", name="Sentence")
    known = [f"{SENTENCE}."]  # the small head reads it: see tests/pages/test_reading.py
    for text in [DOG, *take_turns([text for text in SENTENCES[1:] if text not in known])]:
        one.turn_to("")
        field.fill(text)
        field.press("Enter")
        found = read_with(minilm, read_sentence(text))
        assert found
        words = one.hero.locator(".words button")
        expect(words).to_have_text([*found.tokens], timeout=LOADING)
        most = max(found.weigh_words()[found.telling_word])
        expect(one.says).to_contain_text(write_percent(most))
        for place in PLACES:
            one.turn_to(place, text=text)
            expect(one.hero.locator(".words button")).to_have_text([*found.tokens])
            expect(one.page.get_by_text("instead:")).to_have_count(0)
            if place in ("query_key_value", "scores"):
                expect(one.says).to_contain_text(write_percent(most))
        for place in WITHOUT_BUTTONS:
            one.turn_to(place, text=text)
            expect(one.hero.locator(".tiles-column")).to_have_text([*found.tokens])
            expect(one.page.get_by_text("instead:")).to_have_count(0)
        one.turn_to("relative_positions", text=text)
        rotated = read_rotary_head(smollm2.name, id(smollm2), text, smollm2)
        assert rotated
        expect(words).to_have_text([*rotated.tokens], timeout=LOADING)
        expect(one.page.get_by_text("instead:")).to_have_count(0)
        one.turn_to("kv_cache", text=text)
        stored = read_model_text(smollm2.name, id(smollm2), text, smollm2)
        assert stored
        expect(words).to_have_text([*stored.tokens], timeout=LOADING)
        expect(one.page.get_by_text("A real model reads your words")).to_be_visible()
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
