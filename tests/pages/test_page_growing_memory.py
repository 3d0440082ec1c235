"""A memory that does not grow: what its prediction, its step, its cards and its questions say."""

from random import Random

import pytest
import torch
from torch.nn.functional import normalize

from explainers.chapters.growing_memory import how_much_fits, memory_bytes, trained_results
from explainers.chapters.growing_memory.memory_training_job import (
    EACH,
    MemoryRequest,
    make_memory_job,
    name_hybrids,
)
from explainers.chapters.growing_memory.trained_results import ANSWERS, Results, answer_comparison
from explainers.chapters.growing_memory.write_step import Step, compare_forms
from explainers.chapters.growing_memory.written_pairs import (
    DIM,
    recall_second_value,
    recall_size,
    tell_story,
)
from explainers.toys.pair_memory import FADE, OVERWRITE, SOFTMAX, SUM
from explainers.toys.pair_results import MemoryRow, read_results
from explainers.ui.session import MEMORY_JOB
from explainers.ui.text.numbers import write_percent
from tests.support.opening import ROOT, opened
from tests.support.reading import close, panels, said, values
from tests.support.waiting import over

PAGE = ROOT / "pages" / "12_growing_memory.py"


@pytest.mark.parametrize(("times", "answer"), [*zip((2.1, 1.0, 0.4), ANSWERS, strict=True)])
def test_the_answer_is_what_was_measured(times, answer):
    def row(rule: str, share: float) -> MemoryRow:
        return MemoryRow((rule,), False, [[0.0, 0.0, 0.0, 0.0, share]])

    found: Results = {
        ((SUM,), False): row(SUM, 0.4),
        ((OVERWRITE,), False): row(OVERWRITE, 0.4 * times),
    }
    assert answer_comparison(found) == answer


def test_repeated_keys_are_what_overwriting_is_for():
    results = trained_results.load_results()
    new, again = (
        {r: results[(r,), task].average(64) for r in (SUM, OVERWRITE)} for task in (False, True)
    )
    assert abs(new[SUM] - new[OVERWRITE]) < 0.1
    assert again[OVERWRITE] > 0.95 > 0.3 > again[SUM]


def test_the_step_is_drawn_with_its_numbers():
    found, step = panels(opened(PAGE), "value"), Step.of(tell_story("en"))
    keys, words = step.story.vectors
    assert values(found, "memory") == close(step.before)
    missing = words[step.story.pairs[step.place][1]] - step.before @ keys[step.story.asked[2]]
    assert values(found, "missing") == close(missing)
    after = step.before + torch.outer(missing, step.key)
    assert (words @ (after @ step.key)).max().item() == pytest.approx(1, abs=1e-5)


def test_both_forms_agree_up_to_rounding():
    assert set(compare_forms(tell_story("en")).values()) <= {
        f"less than 0.{'0' * zeros}1" for zeros in (5, 6)
    } | {"0"}


def test_a_memory_that_is_full_finds_fewer():
    fits = how_much_fits.fit_all(0)
    assert fits[SUM, 8].whole > 0.9 > fits[SUM, 64].whole
    assert fits[OVERWRITE, 64].whole < fits[SUM, 64].whole
    assert fits[OVERWRITE, 64].last > 0.85 > 0.5 > fits[SUM, 64].last
    again = how_much_fits.fit_pairs(OVERWRITE, 16, 0, passes=3)
    assert again.whole > fits[OVERWRITE, 16].whole


def test_one_memory_of_the_hundred_is_the_textbooks():
    generator = how_much_fits.make_generator("how much fits", 0, 8)
    keys = normalize(torch.randn(100, 8, 16, generator=generator), dim=-1)
    words = torch.randn(100, 8, 16, generator=generator)
    found = torch.zeros(8)
    for k, v in zip(keys, words, strict=True):
        answers = k @ (v.T @ k).T
        found += (torch.cdist(answers, v).argmin(-1) == torch.arange(8)) / 100
    assert how_much_fits.fit_pairs(SUM, 8, 0).found.tolist() == pytest.approx(found.tolist())


def test_a_text_repeats_its_words():
    (added, words), (over, _words), (fading, _same) = (
        how_much_fits.fit_text(rule, 80, 0) for rule in (SUM, OVERWRITE, FADE)
    )
    assert words == len(set(how_much_fits.read_words(81)[:80])) == 41
    assert over > added > fading


def test_bytes_are_those_of_the_calculator():
    named = memory_bytes.name_costs(memory_bytes.find_model())
    per_layer = 2 * 2 * 256 * 2
    state = 36 * (524_288 * 4 + 32_768 * 2)
    assert named["state"] == f"{state / 2**20:.2f} MiB" == "74.25 MiB"
    assert named["per_token"] == f"{12 * per_layer:,}" == "24,576"
    assert named["same"] == f"{state / (36 * per_layer):,.0f}" == "1,056"
    assert (named["cache"], named["cache_of_all"]) == ("6.00 GiB", "24.00 GiB")


def test_one_layer_of_attention_brings_back_what_is_lost():
    named, results = name_hybrids(), read_results()
    three = results[(FADE,) * 3, False].average(64)
    hybrid = results[(FADE, FADE, SOFTMAX), False].average(64)
    assert hybrid > 0.95 > 0.7 > three
    assert (named["three"], named["hybrid"]) == (write_percent(three), write_percent(hybrid))


def test_a_memory_learns_in_the_background_and_can_be_cancelled():
    job = over(make_memory_job(MemoryRequest(SUM, False, 0), steps=2 * EACH).start())
    assert job.state == "done"
    assert [len(report) for report in job.reports] == [EACH, EACH]
    assert len(job.result or []) == 5
    endless = make_memory_job(MemoryRequest(SUM, True, 0)).start()
    endless.cancel()
    assert over(endless).state == "cancelled"


def test_a_training_here_stands_beside_the_shipped_one():
    visit = opened(PAGE, {"deep": "trained", "trained_rule": "sum", "trained_keys": "come again"})
    [button] = [one for one in visit.button if one.label.startswith("Train it here")]
    button.click().run()
    job = over(visit.session_state[MEMORY_JOB])
    assert job.subject == MemoryRequest(SUM, True, 0)
    text = said(visit.run())
    assert "| trained here | " in text
    assert all(f"{100 * share:.0f} %" in text for share in job.result)


@pytest.mark.parametrize("seed", range(5))
def test_questions_are_computed(seed):
    size = recall_size(Random(seed))
    key_dim, value_dim = int(size.given["key_dim"]), int(size.given["value_dim"])
    assert size.answer == key_dim * value_dim
    second = recall_second_value(Random(seed))
    first, then = (float(second.given[n].replace("−", "-")) for n in ("first", "second"))
    beta = float(second.given["beta"])
    assert second.answer == pytest.approx(beta * first + beta * (then - beta * first))
    assert len(second.given) == 3
    assert DIM == 8
