"""Training in the background: one at a time, to be watched, cancelled, and to fail in the open."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from explainers.chapters.common.background_job import Measuring
from explainers.job_queue import MOST_WAITING, BusyError
from explainers.messages import N_
from explainers.toys.train import Training, parts_of
from explainers.toys.trained_heads import Configuration
from explainers.toys.training_job import Job
from explainers.translations import translate

SMALL = Configuration(2, 1, 4, "causal")
TOKENS = ("The", "zebra", "announced", "earnings")
PATIENCE = 30
ROOT = Path(__file__).parents[1]


def job(steps, seed=0):
    return Job(SMALL, seed, TOKENS, steps)


def wait(until):
    """Waits are long where the machine is busy, so nothing is said about how long."""
    end = time.monotonic() + PATIENCE
    while not until():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.005)


def over(one):
    wait(lambda: one.is_over)
    return one


def test_it_learns_what_training_elsewhere_learns():
    done = over(job(steps=6).start())
    assert (done.state, done.error, len(done.losses)) == ("done", "", 6)
    elsewhere = Training(SMALL, [0])
    assert done.losses == [elsewhere.step()[0] for _ in range(6)]
    learned = parts_of(done.learned)
    assert all((a == b).all() for a, b in zip(learned, parts_of(elsewhere.learned(0)), strict=True))


def test_beside_what_goes_on_the_same_heads_learn_from_random_weights():
    begin = over(job(steps=3, seed=1).start()).learned
    done = over(Job(SMALL, 0, TOKENS, 4, begin=begin).start())
    assert (done.state, done.error) == ("done", "")
    goes_on, afresh = Training(SMALL, [0], [begin]), Training(SMALL, [0])
    for alone, losses, learned in (
        (goes_on, done.losses, done.learned),
        (afresh, done.losses_beside, done.learned_beside),
    ):
        assert losses == pytest.approx([alone.step()[0] for _ in range(4)], rel=1e-5)
        assert learned.bias.tolist() == pytest.approx(alone.learned(0).bias.tolist(), rel=1e-4)
    assert done.losses != done.losses_beside
    without = over(job(steps=1).start())
    assert not without.losses_beside
    assert without.learned_beside is None


def test_the_weights_can_be_seen_on_the_way():
    done = over(job(steps=50).start())
    steps = [snapshot.step for snapshot in done.snapshots]
    assert steps == [*range(0, 50, 2), 50]
    for snapshot in done.snapshots:
        assert len(snapshot.weights) == SMALL.num_heads
        for head in snapshot.weights:
            assert [len(row) for row in head] == [4] * 4
            assert all(sum(row) == pytest.approx(1, abs=1e-5) for row in head)
            assert head[0][1:] == [0, 0, 0], "the mask is kept"
    assert done.snapshots[0].weights != done.snapshots[-1].weights


def test_it_can_be_cancelled():
    one = job(steps=1_000_000).start()
    wait(lambda: len(one.losses) > 2)
    one.cancel()
    assert over(one).state == "cancelled"
    assert one.learned is None
    assert over(job(steps=1).start()).state == "done", "the next one has its turn"


def test_one_at_a_time():
    first = job(steps=1_000_000).start()
    wait(lambda: first.state == "running")
    second, third, fourth = (job(steps=1, seed=seed).start() for seed in (1, 2, 3))
    wait(lambda: len(first.losses) > 10)
    assert second.state == third.state == fourth.state == "waiting"
    assert not second.losses
    assert [one.before for one in (first, second, third, fourth)] == [0, 1, 2, 3]
    third.cancel()
    assert over(third).state == "cancelled"
    assert [one.before for one in (second, fourth)] == [1, 2]
    assert not first.is_over
    first.cancel()
    assert over(second).state == over(fourth).state == "done"


def test_a_measurement_waits_until_a_training_is_over():
    """Side by side, each would take the other's time."""
    training = job(steps=1_000_000).start()
    wait(lambda: len(training.losses) > 2)
    measuring = Measuring(1, lambda: iter([len(training.losses)])).start()
    last = job(steps=1).start()
    wait(lambda: [one.before for one in (training, measuring, last)] == [0, 1, 2])
    training.cancel()
    assert over(measuring).found == [len(over(training).losses)], "it began after the last batch"
    assert over(last).state == "done"


def test_who_came_first_is_first(monkeypatch):
    begun = []
    monkeypatch.setattr(Job, "_work", lambda one: begun.append(one.seed))
    hold = threading.Event()
    monkeypatch.setattr(Job, "is_complete", property(lambda _: hold.wait(PATIENCE)))
    jobs = [job(steps=1, seed=seed).start() for seed in range(MOST_WAITING)]
    hold.set()
    assert {over(one).state for one in jobs} == {"done"}
    assert begun == [*range(MOST_WAITING)]


def test_not_everybody_may_wait():
    before = threading.active_count()
    jobs = [job(steps=1_000_000).start() for _ in range(1 + MOST_WAITING)]
    with pytest.raises(BusyError, match=f"{MOST_WAITING} others wait"):
        job(steps=1).start()
    for one in jobs:
        one.cancel()
    assert {over(one).state for one in jobs} == {"cancelled"}
    wait(lambda: threading.active_count() == before)
    assert over(job(steps=1).start()).state == "done"


def test_a_thread_that_cannot_begin_takes_no_place(monkeypatch):
    def no_more(_):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as without:
        without.setattr(threading.Thread, "start", no_more)
        with pytest.raises(RuntimeError, match="new thread"):
            job(steps=1).start()
    assert over(job(steps=1).start()).state == "done", "nobody waits for it"


def test_what_was_learned_is_not_called_cancelled(monkeypatch):
    """Who cancels during the last batch comes too late."""
    one, learn = job(steps=2), Training.step

    def last(training):
        if one.losses:
            one.cancel()
        return learn(training)

    monkeypatch.setattr(Training, "step", last)
    assert over(one.start()).state == "done"
    assert one.learned is not None


def test_what_goes_wrong_is_told(monkeypatch):
    def broken(_):
        raise ZeroDivisionError("no such batch")

    monkeypatch.setattr(Training, "step", broken)
    failed = over(job(steps=3).start())
    assert (failed.state, failed.error) == ("failed", "ZeroDivisionError: no such batch")
    assert failed.problem == failed.error


def test_what_goes_wrong_can_be_said_in_the_language_of_whoever_looks(monkeypatch):
    def broken(_):
        raise ZeroDivisionError(N_("{count} others wait already.", count=8))

    monkeypatch.setattr(Training, "step", broken)
    monkeypatch.setattr(Job, "for_readers", (ZeroDivisionError,))
    failed = over(job(steps=3).start())
    assert failed.error == "ZeroDivisionError: 8 others wait already."
    for words in (failed.error, failed.problem):
        assert translate("vi", words).endswith("Đã có 8 người đang đợi.")
    monkeypatch.undo()
    assert over(job(steps=1).start()).state == "done", "the next one has its turn"


def test_a_server_that_stops_lets_the_batch_end():
    """Torch aborts a process that exits while a thread is in the middle of its arithmetic."""
    start = (
        "from test_live_training import *; large = Configuration(8, 8, 8, 'full');"
        "one = Job(large, 0, TOKENS, 10**6).start(); wait(lambda: len(one.losses) > 2)"
    )
    run = subprocess.run(
        [sys.executable, "-c", start],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": "tests:."},
        capture_output=True,
        text=True,
    )
    assert (run.returncode, run.stderr) == (0, "")
