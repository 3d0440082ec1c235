"""*What if* in a browser: a change is clicked, felt, and stands in the link."""

import pytest
from playwright.sync_api import expect

from explainers.chapters.what_if.shipped_effects import read_shipped
from explainers.chapters.what_if.two_windows import WINDOWS
from explainers.models.registry import WHEEL_MODELS
from tests.support.browser_fixtures import CLICK
from tests.support.real_models import real


@pytest.fixture(scope="module", autouse=True)
def model():
    """Without the model there is nothing to test."""
    return real(WHEEL_MODELS[0].id)


LEAST_CONTRAST = """(buttons) => {
  const light = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number).map((c) =>
    c <= 10 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0.05);
  return Math.min(...buttons.filter((one) => !one.matches('.first')).map((one) => {
    const worn = getComputedStyle(one), both = [light(worn.color), light(worn.backgroundColor)];
    return Math.max(...both) / Math.min(...both);
  }));
}"""


def test_the_picture_shows_another_change(visit):
    one = visit("what_if")
    expect(one.says).to_contain_text("only the last 4")
    tokens, told = one.page.locator(".hero .words button"), one.page.locator(".what-if-told")
    assert tokens.evaluate_all(LEAST_CONTRAST) >= 4.5
    kept = read_shipped(WHEEL_MODELS[0].id)
    effect = kept.measure(WINDOWS[0]) if kept else None
    assert effect
    assert tokens.count() == 2 * len(effect.tokens), "as it is, and changed"
    for place in (5, 6):
        (tokens.nth(5).hover if place == 5 else lambda: tokens.nth(5).press("ArrowRight"))()
        before, after = (losses[place - 1] for losses in effect.losses)
        expect(told).to_contain_text(f"loss {before:.2f}, changed {after:.2f}")
    says = one.page.get_by_role("radio", name="few bits").evaluate(CLICK)
    assert "4 bits" in says, "drawn before the server can answer"
    assert not one.page.locator(".hero.waiting").count()
    one.wait_for_choice("what_if", "few bits")
    one.page.get_by_role("button", name="Drop √d_k").click()
    expect(one.says).to_contain_text("Without the division")


def test_a_change_is_clicked_and_the_link_draws_it_again(visit):
    link = {"what_text": "The capital of France is", "changes": "temperature"}
    one = visit("what_if", deep="changing", **link)
    expect(one.page.get_by_text("with temperature").first).to_be_visible()
    before = one.drawn()
    one.page.get_by_role("button", name="uniform").click()
    changed = one.redrawn(before)
    expect(one.page.get_by_text("with temperature, uniform").first).to_be_visible()
    one.page.reload()
    assert one.ready().drawn() == changed
