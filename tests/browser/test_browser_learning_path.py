"""A reader ticks a page at its end: the next one is shown from its top."""

import re

import pytest
from playwright.sync_api import expect

TOP = "document.querySelector('[data-testid=stMain]').scrollTop"


def test_the_next_page_is_shown_from_its_top(visit):
    """From a page that stands at once to another one: Streamlit would stay at the end."""
    page = visit("exercises").page
    page.set_viewport_size({"width": 1024, "height": 600})
    page.get_by_role("button", name=re.compile("Next:")).click()
    page.get_by_role("heading", name="Claims, checked", exact=True).wait_for()
    page.wait_for_function(f"() => {TOP} === 0")
    page.get_by_text("The learning path", exact=True).wait_for()
    assert page.evaluate(TOP) == 0


@pytest.mark.parametrize(
    "path", ["idle_heads", "choosing", "cache_memory", "long_sequences", "cross_attention"]
)
def test_a_prediction_is_taken_after_the_picture_has_changed(visit, path):
    one = visit(path, predict="true")
    before = one.page.url
    one.page.locator(".hero .card button").first.click()
    one.page.wait_for_function("(url) => location.href !== url", arg=before)
    one.ready()
    group = one.page.locator("[data-testid=stRadio] [role=radiogroup]").first
    group.locator("label").first.click()
    one.page.wait_for_function("() => location.search.includes('guess')")
    expect(group.get_by_role("radio").first).to_be_checked()
