"""Heads that want nothing: trainings in front of the reader, and what is said of five seeds."""

from unittest import mock

import pytest
import torch

from explainers.chapters.idle_heads import cards
from explainers.chapters.idle_heads import hero as idle
from explainers.chapters.idle_heads.hero import TrainedHere
from explainers.job_queue import BusyError, Job
from explainers.toys import idle_training
from explainers.toys.idle_head import (
    FIRST,
    IDLE_SEEDS,
    SETTINGS,
    SHIPPED_SETTINGS,
    encode,
    load_idle_head,
    read_rows,
    spell,
)
from explainers.ui.session import IDLE_JOB
from tests.support.opening import ROOT, opened
from tests.support.reading import hero, said
from tests.support.waiting import over

PAGE = ROOT / "pages" / "14_idle_heads.py"
UNSHIPPED = next(one for one in SETTINGS if one not in SHIPPED_SETTINGS)


@pytest.mark.parametrize(
    ("first", "answer"), [(0.9, cards.TO_FIRST), (0.5, cards.HALF), (0.1, cards.INTO_SINK)]
)
def test_the_answer_is_what_five_seeds_did(first, answer, monkeypatch):
    shares = {"first": first, "nowhere": 1 - first}
    monkeypatch.setattr(cards, "average", lambda _setting, name: shares[name])
    assert cards.answer_sink() == answer


def test_a_training_is_begun_watched_and_cancelled(monkeypatch):
    monkeypatch.setattr(idle_training, "IDLE_STEPS", 6)
    monkeypatch.setattr(idle_training, "STAGES", (0, 3, 6))
    visit = opened(PAGE, {"given": UNSHIPPED})
    assert UNSHIPPED not in hero(visit)["settings"]
    visit.session_state["run"] = 1
    visit.run()
    over(visit.session_state[IDLE_JOB])
    trained = hero(visit.run())["trained"]
    assert (trained["setting"], trained["run"], trained["isOver"]) == (UNSHIPPED, 1, True)
    assert [stage["batches"] for stage in trained["stages"]] == [0, 3, 6]
    assert trained["seed"] not in IDLE_SEEDS
    monkeypatch.setattr(idle_training, "IDLE_STEPS", 1_000_000)
    visit.session_state["run"] = 2
    visit.run()
    unseen = visit.session_state[IDLE_JOB]
    visit.session_state["run"] = 0
    assert hero(visit.run())["trained"] is None
    assert over(unseen).state == "cancelled", "nobody looks at it"


def test_where_too_many_train_it_is_told():
    visit = opened(PAGE)
    visit.session_state["run"] = 1
    with mock.patch.object(Job, "start", side_effect=BusyError("8 others wait already.")):
        assert any("8 others wait already" in info.value for info in visit.run().info)
    assert hero(visit)["trained"] is None


def test_models_with_sinks_lead_here():
    calculator = ROOT / "pages" / "10_cache_memory.py"
    assert "(idle_heads)" in said(opened(calculator, {"model": "gpt-oss-20b"}))


def test_what_is_taken_away_is_what_was_trained_here(monkeypatch):
    """Not the shipped seed: its weights are other ones."""
    taken = {}

    def hand_over(part, title, _function, **inputs):
        taken[part] = title, inputs["scores"]

    monkeypatch.setattr(idle, "hand_over", hand_over)
    monkeypatch.setattr(idle, "take", taken.pop)
    idle.hand_over_letters(FIRST, 0)
    _title, shipped = taken["letters"]
    job = idle_training.make_idle_job(idle_training.IdleRequest(FIRST, 5))
    here = TrainedHere(1, job)
    idle.hand_over_letters(FIRST, 0, here)
    assert "letters" not in taken, "it is still learning"
    job.result = load_idle_head(FIRST, 2)
    idle.hand_over_letters(FIRST, 0, here)
    title, own = taken["letters"]
    rows = read_rows(job.result, FIRST, encode(spell(FIRST)))
    torch.testing.assert_close(own, rows.scores)
    assert not torch.equal(own, shipped)
    assert "seed 5" in title
