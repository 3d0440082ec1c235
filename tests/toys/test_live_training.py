"""Training in the background: what it learns, what is seen of it, and how it ends."""

from typing import Any

import pytest
import torch

from explainers.job_queue import Job
from explainers.toys.layers import Configuration
from explainers.toys.training import (
    Training,
    TrainingRequest,
    list_losses,
    list_parts,
    list_snapshots,
    make_training_job,
    train_in_steps,
)
from tests.support.waiting import over

SMALL = Configuration(2, 1, 4, "causal")
TOKENS = ("The", "zebra", "announced", "earnings")


def job(steps, seed=0):
    return make_training_job(TrainingRequest(SMALL, seed, TOKENS), steps)


def test_it_learns_what_training_elsewhere_learns_also_beside_what_goes_on():
    """The same heads from random weights, beside those that another training has left."""
    first = over(job(steps=3, seed=1).start())
    elsewhere = Training(SMALL, [1])
    assert (first.state, first.problem, first.share) == ("done", "", 1)
    assert list_losses(first) == [elsewhere.step()[0] for _ in range(3)]
    [begin] = first.result
    for ours, theirs in zip(*map(list_parts, (begin, elsewhere.export_heads(0))), strict=True):
        assert torch.equal(ours, theirs)
    beside: Job[Any, Any, Any] = Job(
        TrainingRequest(SMALL, 0, TOKENS), lambda one: train_in_steps(one, 4, begin), 5
    )
    done = over(beside.start())
    assert (done.state, done.problem) == ("done", "")
    both = list_losses(done), list_losses(done, 1)
    goes_on, afresh = Training(SMALL, [0], [begin]), Training(SMALL, [0])
    for alone, losses, learned in zip((goes_on, afresh), both, done.result, strict=True):
        assert losses == pytest.approx([alone.step()[0] for _ in range(4)], rel=1e-5)
        assert learned.bias.tolist() == pytest.approx(alone.export_heads(0).bias.tolist(), rel=1e-4)
    assert both[0] != both[1]
    without = over(job(steps=1).start())
    assert [len(step.losses) for step in without.reports] == [0, 1]
    assert len(without.result) == 1


def test_the_weights_can_be_seen_on_the_way_and_before_the_first_batch(monkeypatch):
    one, learn, seen = job(steps=50), Training.step, []

    def step(training):
        seen.append(len(list_snapshots(one)))
        return learn(training)

    monkeypatch.setattr(Training, "step", step)
    snapshots = list_snapshots(over(one.start()))
    assert seen[0] == 1, "a server's first training writes its sentences, which takes a moment"
    assert [snapshot.step for snapshot in snapshots] == [*range(0, 50, 2), 50]
    for snapshot in snapshots:
        assert len(snapshot.weights) == SMALL.num_heads
        for head in snapshot.weights:
            assert [len(row) for row in head] == [4] * 4
            assert all(sum(row) == pytest.approx(1, abs=1e-5) for row in head)
            assert head[0][1:] == [0, 0, 0], "the mask is kept"
    assert snapshots[0].weights != snapshots[-1].weights
