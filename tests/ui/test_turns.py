"""Whose first picture is drawn when many ask at once."""

import threading

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner_utils.exceptions import StopException
from streamlit.testing.v1 import AppTest

from explainers.ui import page, turns
from explainers.ui.turns import Pace, Turns
from tests.support.opening import PAGES, opened
from tests.support.waiting import PATIENCE, wait

NEVER, READERS = 3600.0, 5
"""Seconds that a turn may last where none shall end by itself, and readers who ask at once."""


def start(work, *arguments):
    thread = threading.Thread(target=work, args=arguments)
    thread.start()
    return thread


def end(*threads):
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()


@pytest.fixture
def endless(monkeypatch):
    """No turn ends by itself, and nobody waits in vain."""
    monkeypatch.setattr(turns, "LONGEST_TURN", NEVER)
    monkeypatch.setattr(turns, "LONGEST_WAIT", NEVER)


@pytest.mark.usefixtures("endless")
def test_pictures_come_in_turn_and_all_else_after_the_last_of_them():
    """Of readers who ask one after the other."""
    held, seen, jobs, readers = Turns(), list[str](), [], []

    def wait_and_note():
        held.wait()
        seen.append("job")

    def visit(name):
        held.take()
        seen.append(f"picture {name}")
        if name == 0:
            wait(lambda: len(held._queue) == READERS)
            jobs.append(start(wait_and_note))
        held.give_way(Turns())
        seen.append(f"rest {name}")
        held.end()

    for name in range(READERS):
        readers.append(start(visit, name))
        wait(lambda name=name: len(held._queue) == name + 1)
    end(*readers)
    end(*jobs)  # they have begun by now
    assert seen[:READERS] == [f"picture {name}" for name in range(READERS)]
    assert sorted(seen[READERS:]) == ["job", *(f"rest {name}" for name in range(READERS))]


def test_a_picture_that_takes_long_holds_up_nobody(monkeypatch):
    monkeypatch.setattr(turns, "LONGEST_TURN", 0.01)
    held, is_over = Turns(), threading.Event()

    def load_for_long():
        held.take()
        is_over.wait(PATIENCE)
        held.give_way(Turns())  # it has lost its turn, and waits for nobody

    slow = start(load_for_long)
    wait(lambda: held._queue)
    held.take()
    held.end()
    assert not is_over.is_set()
    is_over.set()
    end(slow)


def test_the_rest_of_a_page_does_not_give_way_for_ever(monkeypatch):
    monkeypatch.setattr(turns, "LONGEST_WAIT", 0.01)
    held, may_end = Turns(), threading.Event()
    held.take()

    def draw_for_long():
        held.take()
        may_end.wait(PATIENCE)
        held.end()

    other = start(draw_for_long)
    wait(lambda: len(held._queue) == 2)
    held.give_way(Turns())  # returns, though the other one draws
    held.wait()
    may_end.set()
    end(other)
    assert not held._queue


@pytest.mark.usefixtures("endless")
def test_who_gives_way_gives_back_the_turn_of_the_part_with_the_picture():
    pictures, parts, seen = Turns(), Turns(), []

    def visit(name):
        pictures.take()
        with parts.turn():
            seen.append(f"picture {name}")
            wait(lambda: len(pictures._queue) == 2 or name > 0)
            pictures.give_way(parts)
        seen.append(f"rest {name}")
        pictures.end()

    first = start(visit, 0)
    wait(lambda: pictures._queue)
    end(first, start(visit, 1))
    assert seen[:2] == ["picture 0", "picture 1"], "nobody waits until a turn has lasted too long"
    assert len(seen) == 4
    assert not [*pictures._queue, *parts._queue]


@pytest.mark.usefixtures("endless")
def test_who_lost_the_turn_while_waiting_goes_on():
    held = Turns()
    held.take()
    waiting = start(held.take)
    wait(lambda: len(held._queue) == 2)
    with held._changed:
        held._leave(waiting.ident)  # as a third one would who found it too slow
        held._changed.notify_all()
    end(waiting)
    assert list(held._queue) == [threading.get_ident()]


@pytest.mark.usefixtures("endless")
def test_blocks_come_in_turn_and_one_inside_another_does_not_wait():
    held, inside, most, blocks = Turns(), [], [], 7

    def run_block(name):
        with held.turn(), held.turn():
            inside.append(name)
            most.append(len(inside))
            if len(most) == 1:  # all others could begin now, if they may
                wait(lambda: len(held._queue) == blocks)
            inside.remove(name)

    end(*[start(run_block, name) for name in range(blocks)])
    assert most == [1] * blocks
    assert not held._queue


def test_a_part_of_a_page_has_a_turn():
    def page():
        import threading

        import streamlit as st

        from explainers.ui import turns
        from explainers.ui.text import language

        @language.fragment
        def part():
            st.write(f"{threading.get_ident() in turns.fragments._queue}")

        part()
        st.write(f"{threading.get_ident() in turns.fragments._queue}")

    assert [one.value for one in AppTest.from_function(page).run().markdown] == ["True", "False"]


@pytest.mark.parametrize("end", [st.stop, st.rerun, lambda: 1 // 0])
def test_a_page_that_is_ended_from_outside_gives_its_turn_back(monkeypatch, end):
    ends = iter([end])
    monkeypatch.setattr(page, "run_page", lambda _page: next(ends, lambda: None)())
    opened(PAGES[0])
    assert next(ends, None) is None
    assert not turns.first_pictures._queue


@pytest.mark.usefixtures("endless")
@pytest.mark.parametrize("ask", [Turns.take, Turns.wait])
def test_a_run_that_is_told_to_stop_while_it_waits_leaves_at_once(monkeypatch, ask):
    held, left, is_told = Turns(), list[bool](), threading.Event()

    def check():
        if is_told.is_set():
            raise StopException

    def visit():
        with pytest.raises(StopException):
            ask(held)
        left.append(True)

    monkeypatch.setattr(turns, "get_run_yield_check", lambda: check)
    held.take()
    waiting = start(visit)
    if ask is Turns.take:
        wait(lambda: len(held._queue) == 2)
    is_told.set()
    end(waiting)
    assert left
    assert list(held._queue) == [threading.get_ident()]


def test_who_comes_too_often_is_put_off(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(turns.time, "monotonic", lambda: now[0])
    pace = Pace(each_second=10, at_once=3)
    assert [round(pace.count(), 6) for _message in range(5)] == [0, 0, 0, 0.1, 0.2]
    now[0] += 0.5
    assert [round(pace.count(), 6) for _message in range(4)] == [0, 0, 0, 0.1]
    assert round(pace.count(weight=10), 6) == 1.1
    now[0] += 100
    assert [round(pace.count(), 6) for _message in range(4)] == [0, 0, 0, 0.1]


def test_no_turn_is_left_by_who_begins_anew_or_fails():
    held = Turns()
    held.take()
    held.take()
    held.end()
    assert not held._queue
    with pytest.raises(ZeroDivisionError), held.turn():
        raise ZeroDivisionError
    assert not held._queue
