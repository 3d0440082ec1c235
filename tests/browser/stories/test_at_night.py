"""What takes long: a training that a reader starts."""

import pytest
from playwright.sync_api import expect


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
