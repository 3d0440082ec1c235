"""A lecture that is followed over several servers, and when their Redis server goes away."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import test_browser_follow as audience
from tests.browser.test_browser_follow import code, comes_to_lead, leaf, turn
from tests.deploy.replicas import serve
from tests.follow import conftest as boards

people, hall, browsers = audience.people, audience.hall, audience.browsers
redis_server, server = boards.redis_server, boards.server


@pytest.fixture
def replicas(server, tmp_path):
    """Two replicas of the app with one Redis server; yields their addresses."""
    board = {"ATTENTION_BOARD": server.url}
    with serve(tmp_path / "one", **board) as one, serve(tmp_path / "other", **board) as other:
        yield [one.address, other.address]


@pytest.mark.nightly("starts two servers; by day tests/follow tries boards that lose Redis")
def test_replicas_share_a_lecture_and_go_on_without_redis(replicas, server, hall, people):
    lecturer = comes_to_lead(hall, replicas[0])
    phone, button = hall("phone", replicas[1]), lecturer.page.locator(".follow-lead")
    phone.comes(code(lecturer, 6)).sees_what(lecturer)
    turn(lecturer, [phone])
    expect(button).to_have_text("◉ 1")

    server.stop()
    expect(phone.bar).to_contain_text("cannot be reached")
    expect(button).to_have_attribute("title", re.compile("does not hear you"))
    expect(lecturer.page.locator(".follow-panel > p")).to_contain_text("does not hear you")
    with lecturer.page.expect_response("**/lead/*") as answer:
        turn(lecturer, [])
    assert answer.value.status == 503
    expect(button).to_have_attribute("title", re.compile("does not hear you"))
    expect(phone.bar).to_be_visible()
    assert phone.state() != lecturer.state()
    leaf(lecturer, [])
    server.start()  # empty: nobody else knows where the lecturer is
    phone.sees_what(lecturer)
    expect(phone.bar).to_contain_text("Following")
    expect(button).to_have_text("◉ 1")
    turn(lecturer, [phone])
    for person in people:
        person.errors.clear()  # browsers complain of what is away
