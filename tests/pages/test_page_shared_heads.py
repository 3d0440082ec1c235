"""Shared keys and values: drawn as attention computes them; averaged heads cost, training mends."""

import math
import re

import pytest

from explainers.attention.latent import latent_attention
from explainers.chapters.shared_heads.cards import make_latent_inputs, write_difference
from explainers.chapters.shared_heads.hero import fit_kv_heads
from explainers.chapters.shared_heads.uptraining_job import STEPS, measure_held_out
from explainers.toys.sentence import SENTENCE
from explainers.toys.training import list_losses
from explainers.ui.session import UPTRAINING_JOB
from explainers.ui.text.numbers import bound_rounding
from tests.support.opening import ROOT, opened, pictures
from tests.support.reading import hero, said
from tests.support.waiting import over

PAGE = ROOT / "pages" / "09_shared_heads.py"
TOKENS = tuple(SENTENCE.split())


def test_kv_heads_that_become_too_many_stand_in_the_link_as_they_are_shown():
    visit = opened(PAGE, {"heads": "8", "kv_heads": "8"})
    for heads in ("4", "8"):
        visit.session_state["heads"] = heads
        visit.run()
        assert not visit.info, "no link has asked for it"
        assert (hero(visit)["choices"]["kv_heads"], visit.query_params["kv_heads"]) == (
            heads,
            heads,
        )
        link = {name: visit.query_params.get(name) for name in ("heads", "kv_heads")}
        linked = opened(PAGE, {name: text for name, text in link.items() if text})
        assert hero(linked)["choices"] == hero(visit)["choices"]


def test_a_part_that_runs_alone_has_as_many_kv_heads_as_the_query_heads_of_now_can_share():
    chosen = [("8", 8), ("8", 4), ("8", 1), ("2", 1), ("3", 4), ("6", 9)]
    assert [fit_kv_heads(*one) for one in chosen] == ["8", "4", "1", "1", "2", "1"]


def loss_after(visit, words):
    return float(re.findall(rf"{words}:\*\* loss \*\*([\d.]+)\*\*", said(visit))[0])


def test_averaging_costs_and_a_little_training_mends_it_sooner_than_a_fresh_start():
    visit = opened(PAGE, {"deep": "uptraining", "kv_heads": "2"})
    drawn = len(pictures(visit))
    after = loss_after(visit, "The same heads averaged to 2 KV heads?")
    untrained = loss_after(visit, "An untrained layer of that shape")
    next(b for b in visit.button if b.label.startswith("Train the averaged heads")).click().run()
    job = over(visit.session_state[UPTRAINING_JOB])
    assert not visit.run().exception
    assert list_losses(job)[0] == pytest.approx(after, rel=0.2), "it begins with the averages"
    assert list_losses(job, 1)[0] == pytest.approx(untrained, rel=0.2), "and that with random ones"
    mended = loss_after(visit, f"After {STEPS} more batches")
    beside = loss_after(visit, f"From random weights, after the same {STEPS} batches")
    assert mended < after / 5
    assert beside == pytest.approx(measure_held_out(job.result[1], "full").loss, abs=0.006)
    assert mended < beside < untrained
    assert len(pictures(visit)) == drawn + 1
    visit.session_state["kv_heads"] = "4"
    assert len(pictures(visit.run())) == drawn, "the curve of another training"
    assert "nothing is averaged" in said(visit)


def test_what_is_no_number_is_not_called_rounding():
    run = latent_attention(*make_latent_inputs(TOKENS, 4, 5))
    assert write_difference(run, run) == "0"
    for name in ("scores", "weights", "per_head", "output"):
        spoiled = getattr(run, name).clone()
        spoiled[..., -1, -1] = math.nan
        with pytest.raises(ValueError, match="NaN"):
            write_difference(run, run._replace(**{name: spoiled}))


def test_rounding_is_told_without_exponents():
    told = {7e-7: "less than 0.000001", 1e-6: "less than 0.00001", 0.02: "less than 0.1"}
    told |= {0.0: "0", 3.0: "less than 10"}
    assert {difference: bound_rounding(difference) for difference in told} == told
