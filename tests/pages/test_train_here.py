"""Train it here: the button, what one sees on the way, and every way in which it can end.

What nobody waits for shall not take another visitor's turn.
"""

from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from streamlit.testing.v1 import AppTest

from explainers.chapters.common import background_job, live_training
from explainers.chapters.common.background_job import GRACE, Presence, start_job, watch_for_result
from explainers.chapters.shared_heads import uptraining_job
from explainers.job_queue import BusyError, Job
from explainers.toys.layers import Configuration
from explainers.toys.training import (
    Training,
    TrainingRequest,
    TrainingStep,
    format_mean_and_spread,
    list_losses,
    make_training_job,
    measure_heads,
    read_report,
)
from explainers.ui.session import TRAINING_JOB, UPTRAINING_JOB
from tests.support.opening import elements
from tests.support.waiting import over, wait
from tests.toys.test_live_training import TOKENS

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
        made = partial(make_training_job, steps=steps)
        monkeypatch.setattr(live_training, "make_training_job", made)
        return AppTest.from_function(page, default_timeout=60).run()

    return opened


def started(visit):
    """Click, and wait until the thread has begun."""
    next(b for b in visit.button if b.label == "Train it here").click()
    visit.run()
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
    row, shipped = measure_heads(HEADS, job.result), read_report("en")[HEADS]
    assert f"loss is {row.loss[0]:.2f} per word" in compared
    assert f"loss {format_mean_and_spread(shipped.loss)}" in compared
    for choice, own, other in (("rule", "causal", "full"), ("who", "CEO", "zebra")):
        page.session_state[choice] = other
        assert not shown(page.run()), choice
        page.session_state[choice] = own
        assert shown(page.run()), "it is kept for this visit"


def test_it_can_be_watched_and_cancelled(visit):
    page = visit(steps=1_000_000)
    job = started(page)
    wait(lambda: len(list_losses(job)) > 2)
    page.run()
    assert labels(page) == ["Cancel"]
    assert "of 1000000" in progress(page)
    assert shown(page) == ["vega_lite_chart", "bidi_component"]
    next(b for b in page.button if b.label == "Cancel").click()
    page.run()
    over(job)
    page.run()
    assert "cancelled" in progress(page)
    assert not any("layer's loss is" in e.value for e in page.main.markdown)
    assert labels(page) == ["Train it here"]


def test_a_failure_is_shown_and_who_may_not_wait_is_told(visit):
    page = visit()
    with mock.patch.object(Training, "step", side_effect=ZeroDivisionError("no such batch")):
        over(started(page))
    page.run()
    assert not page.exception
    assert "no such batch" in page.error[0].value
    assert labels(page) == ["Train it here"]
    with mock.patch.object(Job, "start", side_effect=BusyError("8 others wait already.")):
        next(b for b in page.button if b.label == "Train it here").click().run()
    assert "wait already" in page.info[0].value
    assert labels(page) == ["Train it here"]
    assert not page.run().info


@pytest.fixture
def session(monkeypatch):
    """What a visitor's session keeps, where no page is drawn."""
    kept: dict[str, object] = {}
    monkeypatch.setattr(background_job.st, "session_state", kept)
    yield kept
    for one in kept.values():
        if isinstance(one, Job):
            one.cancel()


def here(asked):
    start_job(TRAINING_JOB, make_training_job(asked, 1_000_000))


def more(asked):
    own = asked.configuration._replace(num_kv_heads=2)
    start_job(UPTRAINING_JOB, uptraining_job.make_uptraining_job(asked, own))


@pytest.mark.parametrize(("begin", "key"), [(here, TRAINING_JOB), (more, UPTRAINING_JOB)])
def test_a_second_click_finds_the_first_ones_training(session, monkeypatch, begin, key):
    monkeypatch.setattr(uptraining_job, "STEPS", 1_000_000)
    asked = TrainingRequest(HEADS, 0, TOKENS)
    begin(asked)
    first = session[key]
    wait(lambda: len(list_losses(first)) > 2)
    begin(asked)
    assert session[key] is first
    many = len(list_losses(first))
    wait(lambda: len(list_losses(first)) > many)
    begin(asked._replace(tokens=TOKENS[:2]))
    second = session[key]
    assert second.subject.tokens == TOKENS[:2]
    assert over(first).state == "cancelled", "nobody can see it any more"
    wait(lambda: second.state == "running")
    second.cancel()
    assert over(second).state == "cancelled"
    begin(second.subject)
    assert session[key] is not second, "what is over can begin again"
    assert session[key].subject == second.subject


def test_the_bar_says_what_is_waited_for():
    def job(seed, steps=1_000_000):
        return make_training_job(TrainingRequest(HEADS, seed, TOKENS), steps)

    def state(one):
        return background_job.describe_state(one, live_training.describe_batches)

    assert state(job(0)) == "beginning"
    jobs = [job(seed).start() for seed in range(3)]
    wait(lambda: jobs[0].state == "running")  # whatever ran before has left its place
    assert state(jobs[1]) == "waiting, 1 before this one"
    assert state(jobs[2]) == "waiting, 2 before this one"
    for one in jobs:
        one.cancel()
        over(one)
    prepares = job(0, 7)
    prepares.end.set_running_or_notify_cancel()
    prepares.reports += [TrainingStep((), None)]
    assert "sentences" in state(prepares)
    prepares.reports += [TrainingStep((3.0,), None), TrainingStep((2.0,), None)]
    assert state(prepares) == "batch 2 of 7, loss 2.00"
    prepares.end.set_result("cancelled")
    assert state(prepares) == "batch 2 of 7, loss 2.00, cancelled"


def test_a_tab_that_was_closed_is_missed_after_a_while(monkeypatch):
    """A server with one visitor, whose tab is open, and a clock."""
    now = SimpleNamespace(time=100.0, tabs={"mine", "another"}, is_server=True)
    server = SimpleNamespace(is_active_session=lambda one: one in now.tabs)
    runtime = SimpleNamespace(exists=lambda: now.is_server, get_instance=lambda: server)
    monkeypatch.setattr(background_job, "runtime", runtime)
    monkeypatch.setattr(background_job, "time", SimpleNamespace(monotonic=lambda: now.time))
    context = SimpleNamespace(session_id="mine")
    monkeypatch.setattr(background_job, "get_script_run_ctx", lambda **_: context)
    is_there = Presence()
    now.time += 10 * GRACE
    assert is_there(), "however long it looks on"
    now.tabs.remove("mine")
    now.time += GRACE / 2
    assert is_there(), "a phone may lose its network for a moment"
    now.tabs.add("mine")
    now.time += GRACE / 2
    assert is_there()
    now.tabs.remove("mine")
    now.time += GRACE
    assert not is_there()
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
