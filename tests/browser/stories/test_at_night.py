"""What takes long: a training that a reader starts, and a model's own words."""

import pytest
from playwright.sync_api import expect

from explainers.models.registry import WHEEL_MODELS
from tests.support.real_models import need


@pytest.mark.nightly("it trains; that jobs run, end and are cancelled: test_job_queue")
def test_one_of_the_idle_heads_is_trained_while_one_looks_on(story):
    one = story("idle_heads", given="sink-gate")
    one.press("Train it now")
    status = one.hero.locator(".idle-training [role=status]")
    expect(status).to_contain_text("batch")
    expect(one.hero.get_by_role("button", name="Cancel")).to_be_visible()
    expect(status).to_contain_text("trained here just now, from seed 5", timeout=180_000)
    one.expect_said("needs the letter before it")
    expect(one.hero.get_by_role("button", name="Train it now")).to_be_visible()


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
