"""Whether a visitor is still there: what nobody waits for shall not take another one's turn."""

from types import SimpleNamespace

import pytest

from explainers.chapters.common import background_job
from explainers.chapters.common.background_job import GRACE, Presence


@pytest.fixture
def world(monkeypatch):
    """A clock and a server with one visitor, whose tab is open."""
    now = SimpleNamespace(time=100.0, tabs={"mine", "another"}, is_server=True)
    server = SimpleNamespace(is_active_session=lambda one: one in now.tabs)
    runtime = SimpleNamespace(exists=lambda: now.is_server, get_instance=lambda: server)
    monkeypatch.setattr(background_job, "runtime", runtime)
    monkeypatch.setattr(background_job, "time", SimpleNamespace(monotonic=lambda: now.time))
    context = SimpleNamespace(session_id="mine")
    monkeypatch.setattr(background_job, "get_script_run_ctx", lambda **_: context)
    return now


def test_a_tab_that_was_closed_is_missed_after_a_while(world):
    is_there = Presence()
    world.time += 10 * GRACE
    assert is_there(), "however long it looks on"
    world.tabs.remove("mine")
    world.time += GRACE / 2
    assert is_there(), "a phone may lose its network for a moment"
    world.tabs.add("mine")
    world.time += GRACE / 2
    assert is_there()
    world.tabs.remove("mine")
    world.time += GRACE
    assert not is_there()


def test_without_a_server_nobody_leaves(world):
    world.is_server, world.tabs = False, set()
    is_there = Presence()
    world.time += 10 * GRACE
    assert is_there()
