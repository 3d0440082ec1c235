"""A training in a browser: one visitor watches and cancels it, and no other one waits for it."""

import re

from playwright.sync_api import expect

from tests.support.browser_fixtures import Visit


def test_another_visitor_gets_pictures_while_one_trains(visit, browser, address):
    with browser.new_context() as elsewhere:
        other = Visit(elsewhere.new_page(), address).goto("scores", deep="steps")
        drawn = other.drawn()
        trains = visit("many_heads", deep="layer", heads="8", d_k="8")
        again = trains.page.get_by_role("button", name="Train it here")
        again.click()
        bar = trains.page.get_by_test_id("stProgress")
        expect(bar).to_contain_text(re.compile(r"batch [1-9]\d* of"))
        expect(again).to_be_disabled()
        other.page.get_by_role("radio", name="weights", exact=True).click()
        assert other.redrawn(drawn) != drawn
        assert not other.errors
        trains.page.get_by_role("button", name="Cancel").click()
        expect(bar).to_contain_text("cancelled")
        expect(again).to_be_enabled()
        expect(trains.page.get_by_role("button", name="Cancel")).to_have_count(0)
        trains.ready()
