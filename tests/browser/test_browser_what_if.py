"""*What if* in a browser: a change is clicked, felt, and stands in the link."""

import pytest
from playwright.sync_api import expect

from explainers.models.registry import WHEEL_MODELS
from tests.support.real_models import real


@pytest.fixture(scope="module", autouse=True)
def model():
    """Without the model there is nothing to test."""
    return real(WHEEL_MODELS[0].id)


def test_the_picture_shows_another_change(visit):
    one = visit("what_if")
    expect(one.says).to_contain_text("only the last 4")
    one.page.get_by_role("radio", name="few bits").click()
    expect(one.says).to_contain_text("4 bits")
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
