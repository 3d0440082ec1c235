"""The tour from the start page to its last stop, by keys."""

from benchmarks.tour import COMPLETE, WATCH
from explainers.ui.tour import STOPS

TOP = "document.querySelector('[data-testid=stMain]').scrollTop"


def test_the_tour_is_walked_by_keyboard(visit):
    """The stops that are left out are like these."""
    one, stops = visit(""), 3
    one.page.evaluate(WATCH)
    one.page.get_by_role("button", name="10-minute tour").focus()
    one.page.keyboard.press("Enter")
    for place in range(1, stops + 1):
        one.page.get_by_text(f"{place} of {len(STOPS)}", exact=True).wait_for()
        one.wait_for_choice("tour", "1")
        one.ready()
        if place == 1:
            before = one.page.evaluate("history.length")
        assert one.page.evaluate(TOP) == 0
        assert one.page.locator(".st-key-one-sentence").is_visible()
        bar = one.page.locator(".st-key-tour-bar").bounding_box()
        assert bar["y"] + bar["height"] <= one.page.viewport_size["height"]
        if place > 1:
            one.page.wait_for_function(COMPLETE)
            seen_first = one.page.evaluate("() => tour.found")
            assert seen_first["words"] <= seen_first["picture"]
            assert not seen_first["blank"], "something is on screen at every moment"
        if place < stops:
            one.page.locator(".st-key-tour-next button").focus()
            one.page.evaluate("() => tour.begin(true)")
            one.page.keyboard.press("Enter" if place > 1 else "PageDown")
    assert one.page.evaluate("history.length") == before + stops - 1, "Back leads through all stops"
    one.page.go_back()
    one.page.get_by_text(f"{stops - 1} of {len(STOPS)}", exact=True).wait_for()
    one.ready().page.reload()
    one.page.get_by_text(f"{stops - 1} of {len(STOPS)}", exact=True).wait_for()
    one.ready().page.get_by_role("button", name="Leave the tour").press("Enter")
    one.wait_for_choice("tour", None)
    one.ready().page.get_by_role("heading", name="Check yourself").wait_for()
