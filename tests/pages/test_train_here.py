"""Train it here: the button, what one sees on the way, and every way in which it can end.

What nobody waits for shall not take another visitor's turn.
"""

import time
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from streamlit.testing.v1 import AppTest

from explainers.chapters.common import background_job, live_training
from explainers.chapters.common.background_job import GRACE, Presence, start_job, watch_for_result
from explainers.job_queue import BusyError, Job
from explainers.toys import training
from explainers.toys.layers import Configuration
from explainers.ui.session import TRAINING_JOB
from tests.support.opening import elements, press
from tests.support.waiting import over, wait
from tests.toys.test_training import TOKENS

HEADS = Configuration(2, 1, 4, "causal")


def page():
    import streamlit as st

    from explainers.chapters.common.live_training import train_here
    from explainers.toys.layers import Configuration, load_layer

    tokens = ("The", st.session_state.get("who", "CEO"), "announced", "earnings")
    of_heads = Configuration(2, 1, 4, st.session_state.get("rule", "causal"))
    train_here(load_layer(tokens, of_heads, 0), 0)


@pytest.fixture
def visit(monkeypatch):
    """A page with nothing but the button; its training takes a few steps, or the test's own."""

    def opened(steps=6):
        made = partial(training.make_training_job, steps=steps)
        monkeypatch.setattr(live_training.training, "make_training_job", made)
        return AppTest.from_function(page, default_timeout=60).run()

    return opened


def started(visit):
    """Click, and wait until the thread has begun."""
    press(visit, "Train it here")
    wait(lambda: visit.session_state[TRAINING_JOB].state != "waiting")
    return visit.session_state[TRAINING_JOB]


def labels(visit):
    return [button.label for button in visit.button if not button.disabled]


def shown(visit):
    return [e.type for e in elements(visit.main) if e.type in ("bidi_component", "vega_lite_chart")]


def progress(visit):
    return " ".join(bar.text for bar in visit.get("progress"))


def test_what_it_came_to_is_shown_for_its_own_configuration_and_text(visit):
    page = visit()
    assert labels(page) == ["Train it here"]
    assert not shown(page), "nothing is trained before it is asked for"
    job = over(started(page))
    page.run()
    assert not page.exception
    assert labels(page) == ["Train it here"]
    assert shown(page) == ["vega_lite_chart", "bidi_component"]
    assert "batch 6 of 6" in progress(page)
    what = "2 query heads, 1 KV head, d_k 4, mask causal, seed 0"
    badges = [e.value for e in page.main.markdown if "gray-badge" in e.value]
    assert [what in badge for badge in badges] == [True, True]
    [compared] = [e.value for e in page.main.markdown if "layer's loss is" in e.value]
    row, shipped = training.measure_heads(HEADS, job.result), training.read_report("en")[HEADS]
    assert f"loss is {row.loss[0]:.2f} per word" in compared
    assert f"loss {training.format_mean_and_spread(shipped.loss)}" in compared
    for choice, own, other in (("rule", "causal", "full"), ("who", "CEO", "zebra")):
        page.session_state[choice] = other
        assert not shown(page.run()), choice
        page.session_state[choice] = own
        assert shown(page.run()), "it is kept for this visit"


def test_it_is_shown_on_the_way_and_can_be_cancelled(visit):
    page = visit(steps=1_000_000)
    job = started(page)
    wait(lambda: len(training.list_losses(job)) > 2)
    assert shown(page.run()) == ["vega_lite_chart", "bidi_component"]
    assert labels(page) == ["Cancel"]
    press(page, "Cancel")
    over(job)
    assert "cancelled" in progress(page.run())
    assert not any("layer's loss is" in e.value for e in page.main.markdown)


def test_a_failure_is_shown_and_who_may_not_wait_is_told(visit):
    page = visit()
    with mock.patch.object(
        training.Training, "step", side_effect=ZeroDivisionError("no such batch")
    ):
        over(started(page))
    page.run()
    assert not page.exception
    assert "no such batch" in page.error[0].value
    assert labels(page) == ["Train it here"]
    with mock.patch.object(Job, "start", side_effect=BusyError("8 others wait already.")):
        press(page, "Train it here")
    assert "wait already" in page.info[0].value
    assert labels(page) == ["Train it here"]
    assert not page.run().info


def go_on(job):
    for _ in range(100_000):
        time.sleep(0.001)
        job.report(1)


def test_a_second_click_finds_the_first_ones_job(monkeypatch):
    session: dict[str, Any] = {}
    monkeypatch.setattr(background_job.st, "session_state", session)

    def click(subject):
        start_job("job", Job(subject, go_on))
        return session["job"]

    first = click("one")
    wait(lambda: len(first.reports) > 2)
    assert click("one") is first
    many = len(first.reports)
    wait(lambda: len(first.reports) > many)
    second = click("another")
    assert second.subject == "another"
    assert over(first).state == "cancelled", "nobody can see it any more"
    wait(lambda: second.state == "running")
    second.cancel()
    assert over(second).state == "cancelled"
    again = click("another")
    assert again is not second, "what is over can begin again"
    again.cancel()


def test_the_bar_says_what_is_waited_for():
    def job(seed, steps=1_000_000):
        return training.make_training_job(training.TrainingRequest(HEADS, seed, TOKENS), steps)

    def state(one):
        return background_job.describe_state(one, live_training.describe_batches)

    assert state(job(0)) == "beginning"
    jobs = [job(seed).start() for seed in range(3)]
    wait(lambda: jobs[0].state == "running")  # whatever ran before has left its place
    assert [state(one) for one in jobs[1:]] == [f"waiting, {n} before this one" for n in (1, 2)]
    for one in jobs:
        one.cancel()
        over(one)
    prepares = job(0, 7)
    prepares.end.set_running_or_notify_cancel()
    prepares.reports += [training.TrainingStep((), None)]
    assert "sentences" in state(prepares)
    prepares.reports += [training.TrainingStep((3.0,), None), training.TrainingStep((2.0,), None)]
    assert state(prepares) == "batch 2 of 7, loss 2.00"
    prepares.end.set_result("cancelled")
    assert state(prepares) == "batch 2 of 7, loss 2.00, cancelled"


def test_a_tab_that_was_closed_is_missed_after_a_while(monkeypatch):
    """A server with one visitor, whose tab is open, and a clock."""
    now = SimpleNamespace(time=100.0, tabs={"mine"}, is_server=True)
    server = SimpleNamespace(is_active_session=lambda one: one in now.tabs)
    runtime = SimpleNamespace(exists=lambda: now.is_server, get_instance=lambda: server)
    monkeypatch.setattr(background_job, "runtime", runtime)
    monkeypatch.setattr(background_job, "time", SimpleNamespace(monotonic=lambda: now.time))
    context = SimpleNamespace(session_id="mine")
    monkeypatch.setattr(background_job, "get_script_run_ctx", lambda **_: context)
    is_there = Presence()
    for passed, tabs, expected in [
        (10 * GRACE, {"mine"}, True),  # however long it looks on
        (GRACE / 2, {"another"}, True),  # a phone may lose its network for a moment
        (GRACE / 2, {"mine"}, True),
        (GRACE, {"another"}, False),
    ]:
        now.time, now.tabs = now.time + passed, tabs
        assert is_there() is expected
    now.is_server, is_there = False, Presence()
    now.time += 10 * GRACE
    assert is_there(), "without a server nobody leaves"


def test_a_job_that_is_watched_is_known_by_what_became_of_it(monkeypatch):
    told = []
    monkeypatch.setattr(background_job, "show_problem", lambda job: told.append(job.problem))
    monkeypatch.setattr(background_job, "watch_job", lambda *_, **__: told.append("goes on"))
    done = over(Job("done", lambda _job: 7).start())
    failed = over(Job("failed", lambda _job: int("x"), readable_errors=(ValueError,)).start())
    waiting: Job[str, Any, int] = Job("waits", lambda _job: 0)
    found = [watch_for_result("key", job, "Reading") for job in (None, done, failed, waiting)]
    assert found == [None, 7, None, None]
    assert told == [failed.problem, "goes on"]
    assert "'x'" in failed.problem
