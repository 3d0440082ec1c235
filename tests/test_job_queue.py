"""The queue of background jobs: order, places, and every way in which a job can end."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from explainers.job_queue import COMPUTATIONS, MOST_WAITING, BusyError, Job, JobQueue, report_each
from explainers.messages import N_
from explainers.translations import translate
from tests.support.waiting import over, wait

ROOT = Path(__file__).parents[1]


@pytest.fixture
def queue():
    """One of this test's own, whose jobs end with it."""
    queue = JobQueue()
    yield queue
    queue.close()
    wait(lambda: not queue.list_jobs())


def endless(queue, **given) -> "Job[Any, Any, Any]":
    """A job that reports until it is stopped."""

    def work(job):
        while True:
            time.sleep(0.001)
            job.report(1)

    return Job("endless", work, queue=queue, **given)


def short(queue, work=lambda job: "result", **given) -> "Job[Any, Any, Any]":
    return Job("short", work, queue=queue, **given)


def running(one):
    """Started, and seen to go on."""
    one.start()
    wait(lambda: len(one.reports) > 2)
    return one


def test_a_job_begins_when_it_is_in_nobodys_way_and_tells_how_far_it_is_and_what_came_out(queue):
    begun, way, gates = threading.Event(), threading.Event(), [threading.Event() for _ in range(2)]

    def work(job):
        begun.set()
        assert job.state == "running"
        for place, gate in enumerate(gates):
            assert gate.wait(30)
            job.report(place)
        return job.subject.upper()

    wait_on: Any = way.wait
    one = Job("subject", work, 2, queue, give_way=wait_on)
    assert (one.state, one.is_over, one.share, one.result) == ("waiting", False, 0, None)
    one.start()
    wait(lambda: one.state == "running")
    assert not begun.is_set()
    way.set()
    gates[0].set()
    wait(lambda: one.share == 0.5)
    assert (one.state, one.reports, one.result) == ("running", [0], None)
    gates[1].set()
    assert (over(one).state, one.share, one.problem) == ("done", 1, "")
    assert (one.reports, one.result) == ([0, 1], "SUBJECT")


def test_a_total_that_is_not_known_is_no_share_and_none_is_above_one(queue):
    one = over(short(queue, lambda job: [job.report(n) for n in range(3)]).start())
    assert one.share == 0
    one.total = 2
    assert one.share == 1


def test_jobs_run_one_at_a_time_in_the_order_in_which_they_were_started(queue):
    begun, most, hold = [], [], threading.Event()

    def work(job):
        begun.append(job.subject)
        most.append(sum(one.state == "running" for one in jobs))
        assert hold.wait(30)

    jobs = [Job(n, work, queue=queue) for n in range(1 + MOST_WAITING)]
    for one in jobs:
        one.start()
    wait(lambda: begun)
    assert [one.count_before for one in jobs] == [*range(1 + MOST_WAITING)]
    assert [one.state for one in jobs] == ["running", *["waiting"] * MOST_WAITING]
    hold.set()
    assert {over(one).state for one in jobs} == {"done"}
    assert begun == [*range(1 + MOST_WAITING)]
    assert set(most) == {1}
    assert {one.count_before for one in jobs} == {0}


def test_a_job_is_cancelled_before_it_starts_as_it_waits_or_as_it_runs(queue):
    never = short(queue, lambda job: pytest.fail("it began"))
    never.cancel()
    assert over(never.start()).state == "cancelled"
    first, second, third = running(endless(queue)), short(queue).start(), short(queue).start()
    second.cancel()
    assert (second.state, second.is_over) == ("cancelled", True), "at once"
    assert third.count_before == 1
    assert not first.is_over
    first.cancel()
    assert over(third).state == "done", "the next one has its turn"
    assert (first.state, first.result, first.problem) == ("cancelled", None, "")
    assert len(first.reports) > 2, "what it found is kept"
    assert (second.state, second.result) == ("cancelled", None)


def test_who_cancels_after_the_last_report_comes_too_late(queue):
    def work(job):
        for _ in range(2):
            if job.reports:
                job.cancel()
            job.report(1)
        return "whole"

    one = short(queue, work, total=2)
    assert (over(one.start()).state, one.result) == ("done", "whole")
    assert over(short(queue, work, total=3).start()).state == "cancelled"


def test_what_goes_wrong_is_told_with_its_kind_unless_it_is_written_for_readers(queue):
    """And in the language of whoever looks."""

    def broken(_):
        raise ZeroDivisionError(N_("{count} others wait already.", count=8))

    for readable, kind in (((), "ZeroDivisionError: "), ((ArithmeticError,), "")):
        failed = over(short(queue, broken, readable_errors=readable).start())
        told = f"{kind}8 others wait already."
        assert (failed.state, failed.result, failed.problem) == ("failed", None, told)
        assert translate(failed.problem, "vi") == f"{kind}Đã có 8 người đang đợi."
    assert over(short(queue).start()).state == "done", "the next one has its turn"


def test_a_panic_ends_its_own_job_and_no_other(queue):
    """What Rust raises is no `Exception`; in `end` it would make every look at the queue fail."""

    class PanicException(BaseException):
        pass

    def panic(job):
        raise PanicException("no token")

    failed = over(short(queue, panic).start())
    assert (failed.state, failed.problem) == ("failed", "PanicException: no token")
    assert over(short(queue).start()).state == "done"
    broken = short(queue)
    broken.end.set_exception(PanicException())
    assert broken.state == "failed"


def test_jobs_whose_visitor_has_left_stop_by_themselves_also_while_a_long_step_goes_on(queue):
    visits, hold = {"running": True, "waiting": True}, threading.Event()

    def work(job):
        assert hold.wait(30)
        job.report(1)

    first = short(queue, work, has_visitor=lambda: visits["running"]).start()
    wait(lambda: first.state == "running")
    waiting = [short(queue, has_visitor=lambda: visits["waiting"]) for _ in range(MOST_WAITING)]
    for one in waiting:
        one.start()
    visits["waiting"] = False
    last = short(queue).start()
    assert {one.state for one in waiting} == {"cancelled"}
    assert (last.count_before, first.is_over) == (1, False)
    visits["running"] = False
    hold.set()
    assert over(first).state == "cancelled"
    assert over(last).state == "done", "the next one has its turn"


def test_only_so_many_may_wait_in_one_thread_and_the_next_one_is_told(queue):
    threads = threading.active_count()
    first = running(endless(queue))
    jobs = [short(queue).start() for _ in range(MOST_WAITING)]
    assert threading.active_count() == threads + 1
    with pytest.raises(BusyError, match=f"^{MOST_WAITING} others wait already"):
        short(queue, lambda job: pytest.fail("it began")).start()
    jobs[3].cancel()
    late = short(queue).start()
    assert late.count_before == MOST_WAITING
    first.cancel()
    ends = [over(one).state for one in (*jobs, late)]
    assert ends == [*["done"] * 3, "cancelled", *["done"] * 5]
    assert late.count_before == 0


def test_jobs_share_a_queue_unless_they_are_given_one_and_two_do_not_wait_for_each_other(queue):
    assert Job("", print).queue is Job("", print).queue is COMPUTATIONS
    first, other = running(endless(queue)), JobQueue()
    assert over(short(other).start()).state == "done"
    assert not first.is_over


def test_everything_is_reported_that_is_found_and_none_is_where_one_may_stop(queue):
    one: Job[Any, Any, Any] = Job("", report_each(lambda: iter([None, 1, None, 2])), 2, queue)
    assert (over(one.start()).state, one.reports) == ("done", [1, 2])

    def cancelled_in_between():
        yield None
        two.cancel()
        yield None
        raise AssertionError("it went on")

    two: Job[Any, Any, Any] = Job("", report_each(cancelled_in_between), 1, queue)
    assert (over(two.start()).state, two.reports) == ("cancelled", [])


def test_a_thread_that_cannot_begin_takes_no_place(queue, monkeypatch):
    def no_more(_):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as without:
        without.setattr(threading.Thread, "start", no_more)
        one = short(queue, lambda job: pytest.fail("it began"))
        with pytest.raises(RuntimeError, match="new thread"):
            one.start()
    assert one.state == "cancelled"
    assert over(short(queue).start()).state == "done", "nobody waits for it"
    assert (one.state, one.problem) == ("cancelled", "")


def test_a_server_that_stops_lets_the_step_end_and_begins_no_other():
    """Torch aborts a process that exits while a thread is in the middle of its arithmetic."""
    start = """
import torch
from tests.support.waiting import wait
from explainers.job_queue import Job, JobQueue
def train(job):
    x = torch.rand(300, 300, requires_grad=True)
    for _ in range(5_000):  # seconds: it ends even where nothing stops it
        (x @ x).sum().backward()
        job.report(1)
def slow(job):
    begun.append(1)
    wait(lambda: job.queue.is_closing)  # the process ends in the middle of it
    print("whole step")
    job.report(1)
    print("another one")
begun = []
one = Job("", train).start()
wait(lambda: len(one.reports) > 2)
other = Job("", slow, queue=JobQueue()).start()
waits = Job("", lambda job: print("it began")).start()
wait(lambda: begun)
"""
    paths = {**os.environ, "PYTHONPATH": "tests:."}
    command = [sys.executable, "-c", start]
    run = subprocess.run(command, cwd=ROOT, env=paths, capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "whole step\n", "")
