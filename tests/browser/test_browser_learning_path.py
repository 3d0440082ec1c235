"""A reader predicts what comes out of a page after having tried its picture."""

import pytest
from playwright.sync_api import expect


@pytest.mark.rotating(5)
@pytest.mark.parametrize(
    "path", ["idle_heads", "choosing", "cache_memory", "long_sequences", "cross_attention"]
)
def test_a_prediction_is_taken_after_the_picture_has_changed(stroll, path):
    one = stroll(path, tab="stories", predict="true")
    before = one.page.url
    one.page.locator(".hero .card button").first.click()
    one.page.wait_for_function("(url) => location.href !== url", arg=before)
    one.ready()
    group = one.page.locator("[data-testid=stRadio] [role=radiogroup]").first
    group.locator("label").first.click()
    one.page.wait_for_function("() => location.search.includes('guess')")
    expect(group.get_by_role("radio").first).to_be_checked()
