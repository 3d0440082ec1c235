"""A reader ticks a page at its end: the next one is shown from its top."""

import re

TOP = "document.querySelector('[data-testid=stMain]').scrollTop"


def test_the_next_page_is_shown_from_its_top(visit):
    """From a page that stands at once to another one: Streamlit would stay at the end."""
    page = visit("exercises").page
    page.set_viewport_size({"width": 1024, "height": 600})
    page.get_by_role("button", name=re.compile("Next:")).click()
    page.get_by_role("heading", name="Claims, checked", exact=True).wait_for()
    page.wait_for_function(f"{TOP} === 0")
    page.get_by_text("The learning path", exact=True).wait_for()
    assert page.evaluate(TOP) == 0
