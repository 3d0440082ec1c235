"""Heads that often want nothing: their task, what the shipped ones do, and how they are trained."""

from itertools import product

import pytest
import torch

from explainers.folders import ASSETS
from explainers.toys import idle_training
from explainers.toys.idle_head import (
    BEGIN,
    FIRST,
    GATE,
    IDLE_HEADS,
    IDLE_SEEDS,
    NORM,
    SETTINGS,
    SHIPPED_SETTINGS,
    SINK,
    copy_back,
    list_switches,
    load_idle_head,
    name_setting,
    read_rows,
    spell,
)
from explainers.toys.idle_training import (
    IdleRequest,
    IdleRow,
    draw_idle_parts,
    draw_rows,
    learn,
    list_seeds,
    look_after,
    make_idle_job,
)
from workshop.toys.train_idle_heads import IDLE_MARKDOWN, format_idle_report

EACH = pytest.mark.parametrize("setting", SHIPPED_SETTINGS)


def test_behind_a_trigger_the_letter_before_comes_once_more():
    assert copy_back("the ceo announced") == "theh ceco a nnouncecd"
    assert spell(name_setting(FIRST), "ear") == (BEGIN, "e", "a", "e", "r", "e")


def test_what_is_shipped_is_small_and_every_head_copies():
    assert (ASSETS / f"{IDLE_HEADS}.safetensors").stat().st_size < 1_200_000
    assert IDLE_MARKDOWN.read_text(encoding="utf-8") == format_idle_report()
    for setting, seed in product(SHIPPED_SETTINGS, IDLE_SEEDS):
        parts, untrained = load_idle_head(setting, seed), draw_idle_parts(setting, seed)
        assert {n: p.shape for n, p in parts.items()} == {n: p.shape for n, p in untrained.items()}
    with pytest.raises(ValueError, match="not among the shipped"):
        load_idle_head(name_setting(SINK, GATE))
    rows = [row for setting in SHIPPED_SETTINGS for row in list_seeds(setting)]
    assert min(row.copied for row in rows) > 0.98
    assert min(row.first for row in list_seeds(FIRST)) > 0.9
    assert max(row.first for row in list_seeds(name_setting())) < 0.3
    assert max(row.nowhere for row in list_seeds(name_setting())) == pytest.approx(0, abs=1e-3)
    assert max(row.gate_idle for row in list_seeds(name_setting(GATE))) < 0.3


@pytest.mark.rotating(4)
@EACH
def test_the_report_is_what_the_shipped_weights_do(setting):
    for seed in IDLE_SEEDS[1:3]:
        again = idle_training.measure_idle_head(load_idle_head(setting, seed), setting, seed)
        [kept] = [row for row in list_seeds(setting) if row.seed == seed]
        for name in IdleRow.__dataclass_fields__:
            told = getattr(kept, name)
            near = told if isinstance(told, str) else pytest.approx(told, abs=2e-3)
            assert getattr(again, name) == near, name


@pytest.mark.parametrize("setting", [name_setting(), name_setting(*list_switches(SETTINGS[-1]))])
def test_switches_are_in_what_is_computed(setting):
    parts = {name: part * 3 for name, part in draw_idle_parts(setting, 1).items()}
    reading = read_rows(parts, setting, draw_rows(3, False, "switches")[:, :-1])
    total = reading.weights.sum(dim=-1)
    if setting == name_setting():
        torch.testing.assert_close(total, torch.ones_like(total))
        assert (reading.gate == 1).all()
    else:
        assert total.max() < 1
        assert 0 < reading.gate.min() < reading.gate.max() < 1
        assert reading.scores.abs().max() <= 5


def test_a_job_reports_every_stage(monkeypatch):
    monkeypatch.setattr(idle_training, "IDLE_STEPS", 12)
    monkeypatch.setattr(idle_training, "STAGES", (0, 5, 12))
    job = make_idle_job(IdleRequest(name_setting(SINK, NORM), 7)).start()
    job.end.result(timeout=60)
    assert (job.state, job.problem) == ("done", "")
    assert [stage.batches for stage in job.reports] == [0, 5, 12]
    assert job.result
    assert set(job.result) == set(draw_idle_parts(name_setting(SINK, NORM), 7))
    assert job.reports[0].weights != job.reports[-1].weights
    *_, parts = learn(name_setting(SINK, NORM), 7)
    assert job.reports[-1] == look_after(parts, name_setting(SINK, NORM), 12)
