"""What takes long: trainings and measurements that a reader starts, and a model's own words."""

import json
import re

import pytest
from playwright.sync_api import expect

from explainers.models.registry import WHEEL_MODELS
from tests.browser.stories.test_calculator import CONFIG
from tests.browser.stories.test_real_models import need

TRAINS = (
    "it trains or measures on this machine; that jobs run, end and are cancelled: test_job_queue"
)


@pytest.mark.nightly(TRAINS)
def test_one_of_the_idle_heads_is_trained_while_one_looks_on(story):
    one = story("idle_heads", given="sink-gate")
    one.expect_said("do not come with trained weights")
    one.press("Train it now")
    status = one.hero.locator(".idle-training [role=status]")
    expect(status).to_contain_text("batch")
    expect(one.hero.get_by_role("button", name="Cancel")).to_be_visible()
    expect(status).to_contain_text("trained here just now, from seed 5", timeout=180_000)
    one.expect_said("needs the letter before it")
    expect(one.hero.get_by_role("button", name="Train it now")).to_be_visible()


@pytest.mark.nightly(TRAINS)
def test_averaged_heads_are_trained_and_the_training_is_cancelled(story):
    one = story("shared_heads", weights="untrained", kv_heads="1", deep="uptraining")
    train = one.page.get_by_role("button", name="Train the averaged heads")
    train.click()
    expect(one.page.get_by_text("100 more batches")).to_be_visible()
    expect(one.page.get_by_text("Batch 100 of 100")).to_be_visible()
    train.click()
    one.page.get_by_role("button", name="Cancel").click()
    expect(one.page.get_by_text(", cancelled")).to_be_visible()
    expect(train).to_be_enabled()


@pytest.mark.nightly(TRAINS)
def test_attention_is_measured_up_to_a_length(story):
    one = story("long_sequences", up_to="1024", deep="measure")
    charts = one.page.locator("[data-testid=stVegaLiteChart]")
    before = charts.count()
    button = one.page.get_by_role("button", name="Measure on this machine")
    button.click()
    expect(one.page.get_by_text("9 of 9, fused attention, 1,024 tokens")).to_be_visible()
    expect(charts).to_have_count(before + 2)
    expect(one.page.get_by_text("No output differs by more than")).to_be_visible()
    expect(button).to_be_enabled()
    assert not one.page.get_by_role("button", name="Cancel").count()


@pytest.mark.nightly(TRAINS)
def test_times_with_and_without_a_cache_are_taken(story):
    one = story("kv_cache", deep="timing")
    button = one.page.get_by_role("button", name="Measure it here")
    button.click()
    expect(one.page.locator('.vega-embed[aria-label*="one more token"]')).to_be_visible()
    expect(one.page.get_by_text("length 7 of 7")).to_be_visible()
    expect(one.page.get_by_text(re.compile("At 1,024 words, one more word"))).to_be_visible()
    expect(button).to_be_enabled()


@pytest.mark.nightly("a paste of five megabytes takes long; limits of texts: test_limits")
def test_a_pasted_config_is_there_when_its_reader_comes_back(story):
    """And what is too much is not taken instead of it."""
    one = story("cache_memory", model="a config.json", tokens="33000")
    field = one.page.get_by_role("textbox", name="Paste a config.json")
    size = one.page.get_by_text("4,325,376,000 bytes for ")
    field.fill(json.dumps(CONFIG))
    field.press("Control+Enter")
    expect(size).to_be_visible()
    one.ready().page.get_by_role("link", name="Shared keys and values").click()
    expect(one.page.get_by_role("heading", level=1)).to_have_text("Shared keys and values")
    one.ready().page.get_by_role("link", name="Cache calculator").click()
    expect(size).to_be_visible()
    field.fill(json.dumps({"a": "x" * 5_000_000}))
    field.press("Control+Enter")
    one.ready()
    expect(field).to_have_value(json.dumps(CONFIG))
    expect(size).to_be_visible()
    one.expect_in_link(tokens="33000")


@pytest.mark.nightly("the model reads a text for 90 seconds; the page's own test reads one too")
def test_words_of_a_text_of_ones_own_are_chosen_and_merged(story):
    need(WHEEL_MODELS[0].id)
    text = "Thẩm phán trẻ gặp Ann. Thẩm phán trẻ cảm ơn."
    link = {"lang": "vi", "why_whose": "own", "why_text": text}
    one = story("why_it_looked", **link, as_words="true", why_query="12")
    words = one.page.locator(".why-token")
    spelled = "Thẩm phán trẻ gặp Ann . Thẩm phán trẻ cảm ơn ."
    expect(words).to_have_text(spelled.split(), timeout=90_000)
    words.filter(has_text="phán").first.click()
    expect(one.page.locator(".why-title.key")).to_contain_text("“phán”")
    words.filter(has_text="cảm").click()
    expect(one.page.locator(".why-title.query")).to_contain_text("“cảm”")
    one.wait_for_choice("why_key", None)


@pytest.mark.nightly("the model runs twice; what a change does is tested without a browser")
def test_two_changes_are_chosen_in_the_card(story):
    need(WHEEL_MODELS[0].id)
    link = {"what_text": "The capital of France is", "changes": "temperature"}
    one = story("what_if", deep="changing", **link)
    expect(one.page.get_by_text("with temperature").first).to_be_visible()
    one.page.get_by_role("button", name="uniform").click()
    expect(one.page.get_by_text("with temperature, uniform").first).to_be_visible()
    before = one.drawn()
    one.turn("what_if", **one.choices)
    assert one.drawn() == before
