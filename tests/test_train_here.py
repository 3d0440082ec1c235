"""Train it here: the button, what one sees on the way, and every way in which it can end."""

import functools

import pytest
from opening import elements
from streamlit.testing.v1 import AppTest
from test_live_training import over, wait

from explainers.lessons import train_here as lesson
from explainers.training.live import Job
from explainers.training.loop import Training
from explainers.training.report import mean_and_spread, measured, rows
from explainers.turns import BusyError


def page():
    import streamlit as st

    from explainers.lessons.train_here import train_here

    tokens = ("The", "CEO", "announced", "earnings")
    learned = train_here(tokens, 2, 1, 4, st.session_state.get("rule", "causal"), 0)
    st.text("nothing learned" if learned is None else f"learned {len(learned.words)} words")


@pytest.fixture
def visit(monkeypatch):
    """A page with nothing but the button; its training takes a few steps, or the test's own."""

    def opened(steps=6):
        monkeypatch.setattr(lesson, "Job", functools.partial(Job, steps=steps))
        return AppTest.from_function(page, default_timeout=60).run()

    return opened


def started(visit):
    """Click, and wait until the thread has begun."""
    next(b for b in visit.button if b.label == "Train it here").click()
    visit.run()
    wait(lambda: visit.session_state[lesson.JOB].state != "waiting")
    return visit.session_state[lesson.JOB]


def labels(visit):
    return [button.label for button in visit.button if not button.disabled]


def shown(visit):
    return [e.type for e in elements(visit.main) if e.type in ("bidi_component", "vega_lite_chart")]


def progress(visit):
    return " ".join(bar.text for bar in visit.get("progress"))


def test_nothing_is_trained_before_it_is_asked_for(visit):
    page = visit()
    assert labels(page) == ["Train it here"]
    assert not shown(page)
    assert page.text[0].value == "nothing learned"


def test_what_it_came_to(visit):
    page = visit()
    over(started(page))
    page.run()
    assert not page.exception
    assert labels(page) == ["Train it here"]
    assert shown(page) == ["vega_lite_chart", "bidi_component"]
    assert "batch 6 of 6" in progress(page)
    badges = [e.value for e in page.main.markdown if "gray-badge" in e.value]
    assert len(badges) == 2
    assert len(set(badges)) == 1
    assert "learned live" in badges[0]
    compared = [e.value for e in page.main.markdown if "layer's loss is" in e.value]
    job = page.session_state[lesson.JOB]
    row, shipped = (measured(job.configuration, [job.learned]), rows()[job.configuration])
    assert f"loss is {row.loss[0]:.2f} per word" in compared[0]
    assert f"loss {mean_and_spread(shipped.loss)}" in compared[0]
    assert row.loss[0] > max(shipped.loss), "after 6 batches"
    assert "words" in page.text[0].value
    assert "learned" in page.text[0].value


def test_another_configuration_does_not_show_it(visit):
    page = visit()
    over(started(page))
    page.session_state["rule"] = "full"
    page.run()
    assert not shown(page)
    assert page.text[0].value == "nothing learned"
    page.session_state["rule"] = "causal"
    page.run()
    assert shown(page), "it is kept for this visit"


def test_it_can_be_watched_and_cancelled(visit):
    page = visit(steps=1_000_000)
    job = started(page)
    wait(lambda: len(job.losses) > 2)
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
    assert page.text[0].value == "nothing learned"


def test_a_failure_is_shown(visit, monkeypatch):
    def broken(_):
        raise ZeroDivisionError("no such batch")

    monkeypatch.setattr(Training, "step", broken)
    page = visit()
    over(started(page))
    page.run()
    assert not page.exception
    assert "no such batch" in page.error[0].value
    assert labels(page) == ["Train it here"]


def test_who_may_not_wait_is_told(visit, monkeypatch):
    def full(_):
        raise BusyError("8 trainings wait already.")

    monkeypatch.setattr(Job, "start", full)
    page = visit()
    next(b for b in page.button if b.label == "Train it here").click()
    page.run()
    assert "wait already" in page.info[0].value
    assert labels(page) == ["Train it here"]
    assert not page.run().info
