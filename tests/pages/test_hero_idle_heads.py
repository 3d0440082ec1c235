"""Heads that want nothing: trainings in front of the reader, and what is said of five seeds."""

from unittest import mock

import pytest
import torch

from explainers.job_queue import BusyError, Job
from explainers.toys import idle_head, idle_training
from explainers.ui.session import IDLE_JOB, TAKEAWAY
from tests.support.opening import ROOT, opened
from tests.support.reading import hero
from tests.support.waiting import over

PAGE = ROOT / "pages" / "14_idle_heads.py"
UNSHIPPED = next(one for one in idle_head.SETTINGS if one not in idle_head.SHIPPED_SETTINGS)


@pytest.mark.parametrize("setting", [UNSHIPPED, idle_head.FIRST])
def test_a_training_is_begun_watched_taken_away_and_cancelled(setting, monkeypatch):
    monkeypatch.setattr(idle_training, "IDLE_STEPS", 6)
    monkeypatch.setattr(idle_training, "STAGES", (0, 3, 6))
    visit = opened(PAGE, {"given": setting})
    assert (setting in hero(visit)["settings"]) == (setting in idle_head.SHIPPED_SETTINGS)
    visit.session_state["run"] = 1
    visit.run()
    job = over(visit.session_state[IDLE_JOB])
    trained = hero(visit.run())["trained"]
    assert (trained["setting"], trained["run"], trained["isOver"]) == (setting, 1, True)
    assert [stage["batches"] for stage in trained["stages"]] == [0, 3, 6]
    assert trained["seed"] not in idle_head.IDLE_SEEDS
    [make] = visit.session_state[TAKEAWAY].parts["letters"]
    assert f"seed {trained['seed']}" in make().title
    own = idle_head.read_rows(job.result, setting, idle_head.encode(idle_head.spell(setting)))
    torch.testing.assert_close(make().inputs["scores"], own.scores)
    monkeypatch.setattr(idle_training, "IDLE_STEPS", 1_000_000)
    visit.session_state["run"] = 2
    visit.run()
    assert visit.session_state[TAKEAWAY].parts["letters"] == (), "it is still learning"
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
