"""The picture of a head that wants nothing: torch's numbers, and what its words rest on."""

import pytest
import torch

from explainers.attention.sinks import softmax_with_sinks
from explainers.attention.softcap import soft_cap
from explainers.chapters.idle_heads import hero as picture
from explainers.chapters.idle_heads import one_row, seeds, takeaway
from explainers.chapters.idle_heads.training_here import TrainedHere
from explainers.job_queue import BusyError
from explainers.toys import idle_training
from explainers.toys.idle_head import (
    FIRST,
    IDLE_SEEDS,
    SETTINGS,
    SHIPPED_SETTINGS,
    SINK,
    encode,
    load_idle_head,
    name_setting,
    read_rows,
    spell,
)
from explainers.toys.idle_report import list_seeds
from explainers.ui.session import IDLE_JOB
from tests.support.opening import ROOT, opened
from tests.support.reading import hero, said
from tests.support.waiting import over

PAGE = ROOT / "pages" / "14_idle_heads.py"
SCRIPT = ROOT / "explainers" / "ui" / "browser" / "picture" / "heroes" / "idle.js"
UNSHIPPED = next(one for one in SETTINGS if one not in SHIPPED_SETTINGS)


@pytest.mark.parametrize("setting", SHIPPED_SETTINGS)
def test_weights_and_lengths_are_torchs(setting):
    sent = picture.compute_numbers(None, 3)["settings"][setting][-1]
    reading = read_rows(load_idle_head(setting, 3), setting, encode(spell(setting)))
    size = len(spell(setting))
    rows = torch.zeros(size, size)
    for place, row in enumerate(sent["weights"]):
        rows[place, : place + 1] = torch.tensor(row)
    torch.testing.assert_close(rows, reading.weights, atol=1e-4, rtol=0)
    lengths = reading.value.square().sum(dim=-1).sqrt()
    torch.testing.assert_close(torch.tensor(sent["lengths"]), lengths, atol=1e-3, rtol=0)
    torch.testing.assert_close(torch.tensor(sent["gates"]), reading.gate, atol=1e-3, rtol=0)
    assert sent["largest"] == pytest.approx(reading.scores.abs().max().item(), abs=1e-4)


def test_letters_with_work_are_told_from_idle_ones():
    sent = picture.compute_numbers(None, 0)
    letters = sent["letters"]
    assert [letters[place] for place in sent["wanted"]] == ["e", "e", "a", "e"]
    assert all(letters[place + 1] == letters[place - 1] for place in sent["wanted"])
    assert sorted(sent["wanted"] + sent["idle"]) == list(range(3, len(letters)))


def test_choices_of_a_link_are_obeyed_and_a_link_trains_nothing():
    link = {"given": "first-sink", "letter": "10", "learned": "60", "run": "3"}
    sent = hero(opened(PAGE, link))
    assert sent["choices"] == {"given": "first-sink", "letter": 10, "learned": 60, "run": 0}
    assert sent["trained"] is None


def test_the_seed_of_the_page_chooses_among_the_shipped_ones():
    sent = hero(opened(PAGE, {"seed": "7"}))["settings"][FIRST]
    assert [stage["batches"] for stage in sent] == [500]
    assert sent == picture.compute_numbers(None, 2)["settings"][FIRST]
    assert len(hero(opened(PAGE, {"seed": "5"}))["settings"][FIRST]) > 1, "seed 0 has a film"


def test_the_answer_is_what_five_seeds_did(monkeypatch):
    both = name_setting(FIRST, SINK)
    kept = sum(row.first for row in list_seeds(both)) / len(IDLE_SEEDS)
    assert seeds.answer_sink() == seeds.TO_FIRST
    assert kept > 0.75
    turned = {"first": 0.1, "nowhere": 0.9}
    monkeypatch.setattr(seeds, "average", lambda _setting, name: turned[name])
    assert seeds.answer_sink() == seeds.INTO_SINK
    monkeypatch.setattr(seeds, "average", lambda _setting, _name: 0.5)
    assert seeds.answer_sink() == seeds.HALF


def test_the_row_of_the_text_is_a_softmax_over_five_scores():
    shared = one_row.share_row((1.0, 0.2, -0.5, 0.3), 2.0)
    five = torch.tensor([1.0, 0.2, -0.5, 0.3, 2.0], dtype=torch.double).softmax(dim=-1).tolist()
    assert shared.weights == pytest.approx(five[:4])
    assert shared.nowhere == pytest.approx(five[4])
    assert one_row.describe_row()["kept"] == "44\N{NO-BREAK SPACE}%"
    alone = softmax_with_sinks(torch.zeros(1, 1, 2), torch.tensor([-torch.inf]))
    assert alone.sum().item() == pytest.approx(1)


def test_the_largest_ratio_under_a_cap_is_reached_by_no_score():
    for cap in (1, 2, 3):
        apart = soft_cap(torch.tensor([60.0, -60.0], dtype=torch.double), cap).softmax(dim=-1)
        ratio = one_row.find_largest_ratio(cap)
        assert ratio == pytest.approx(torch.e ** (2 * cap))
        assert (apart[0] / apart[1]).item() <= ratio * (1 + 1e-9)


def test_scores_stay_below_what_the_card_calls_their_bound():
    told = seeds.describe_growth()
    assert float(told["capped"]) <= float(told["cap"])
    assert float(told["normed"]) <= float(told["bound"])
    assert float(told["plain"]) > float(told["normed"])


def test_a_training_is_begun_watched_and_cancelled(monkeypatch):
    monkeypatch.setattr(idle_training, "IDLE_STEPS", 6)
    monkeypatch.setattr(idle_training, "STAGES", (0, 3, 6))
    visit = opened(PAGE, {"given": UNSHIPPED})
    assert UNSHIPPED not in hero(visit)["settings"]
    visit.session_state["run"] = 1
    visit.run()
    job = visit.session_state[IDLE_JOB]
    over(job)
    trained = hero(visit.run())["trained"]
    assert (trained["setting"], trained["run"], trained["isOver"]) == (UNSHIPPED, 1, True)
    assert [stage["batches"] for stage in trained["stages"]] == [0, 3, 6]
    assert trained["seed"] not in IDLE_SEEDS
    visit.session_state["run"] = 0
    assert hero(visit.run())["trained"] is None


def test_a_training_that_nobody_looks_at_ends():
    visit = opened(PAGE)
    visit.session_state["run"] = 1
    visit.run()
    job = visit.session_state[IDLE_JOB]
    visit.session_state["run"] = 0
    visit.run()
    assert over(job).state == "cancelled"


def test_where_too_many_train_it_is_told(monkeypatch):
    def refuse(_job):
        raise BusyError("8 others wait already.")

    monkeypatch.setattr("explainers.job_queue.Job.start", refuse)
    visit = opened(PAGE)
    visit.session_state["run"] = 1
    assert any("8 others wait already" in info.value for info in visit.run().info)
    assert hero(visit)["trained"] is None


@pytest.mark.parametrize(("model", "has_link"), [("gpt-oss-20b", True), ("gemma-3-27b", False)])
def test_models_with_sinks_lead_here(model, has_link):
    calculator = ROOT / "pages" / "10_cache_memory.py"
    page = said(opened(calculator, {"model": model}))
    assert ("(idle_heads)" in page) == has_link


def test_what_is_taken_away_is_what_was_trained_here(monkeypatch):
    """Not the shipped seed: its weights are other ones."""
    taken = {}
    monkeypatch.setattr(takeaway, "take", lambda part, *recipes: taken.update({part: recipes}))
    takeaway.take_letters(FIRST, 0)
    shipped = taken["letters"][0]
    job = idle_training.make_idle_job(idle_training.IdleRequest(FIRST, 5))
    here = TrainedHere(1, job)
    takeaway.take_letters(FIRST, 0, here)
    assert taken["letters"] == (), "it is still learning"
    job.result = load_idle_head(FIRST, 2)
    takeaway.take_letters(FIRST, 0, here)
    own = taken["letters"][0]
    rows = read_rows(job.result, FIRST, encode(spell(FIRST)))
    torch.testing.assert_close(own.inputs["scores"], rows.scores)
    assert not torch.equal(own.inputs["scores"], shipped.inputs["scores"])
    assert "seed 5" in own.title
