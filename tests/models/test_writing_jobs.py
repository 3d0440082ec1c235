"""Jobs of the page that writes: a text both ways, times, losses; and who leaves."""

import pytest

from explainers.models.cache_losses import FULL, RING
from explainers.models.registry import ModelError
from explainers.models.shipped_writing import GREEDY, MODEL, PROMPT, read_shipped_writing
from explainers.models.step_times import time_steps
from explainers.models.writing_jobs import (
    WritingRequest,
    make_loss_job,
    make_times_job,
    make_writing_job,
)
from explainers.models.written_tokens import Sampling

COUNT = 4


def request(prompt=PROMPT, count=COUNT):
    return WritingRequest(MODEL, prompt, count, Sampling(), 0)


def test_a_text_is_written_as_it_is_kept(smollm2):
    job = make_writing_job(request())
    assert job.run() == "done"
    kept = read_shipped_writing(MODEL)
    assert kept
    assert job.result
    text = kept.texts[GREEDY]
    assert job.result.prompt == text.prompt
    assert [one.token for one in job.result.steps] == [one.token for one in text.steps[:COUNT]]
    assert [one.num_bytes for one in job.result.steps] == [
        one.num_bytes for one in text.steps[:COUNT]
    ]
    assert len(job.result.seconds_without) == COUNT
    assert job.reports[COUNT - 1] == "".join(one.token for one in text.steps[:COUNT])
    assert len(job.reports) == job.total == 2 * COUNT
    assert job.result.text == job.reports[COUNT - 1]
    assert job.result.words[5] == " Northwind", "two tokens of the prompt are one word"
    for step, merged in zip(job.result.steps, job.result.merged, strict=True):
        rows = {head: row for _word, _weight, head, row in step.looks}
        same = [(row, rows[head]) for _word, _weight, head, row in merged.looks if head in rows]
        assert same
        for row, tokens in same:
            assert row[5] == pytest.approx(tokens[5] + tokens[6], abs=2e-3)
            assert row[6:] == pytest.approx(tokens[7:], abs=1e-3)


def test_a_prompt_that_is_too_long_is_refused_in_words(smollm2):
    job = make_writing_job(request(prompt="word " * 400))
    assert job.run() == "failed"
    assert "reads at most 256 tokens" in job.problem


def test_who_leaves_is_not_written_for(smollm2):
    job = make_writing_job(request())
    job.has_visitor = lambda: len(job.reports) < 2
    assert job.run() == "cancelled"
    assert len(job.reports) == 2


def test_the_token_after_a_text_is_the_same_with_the_cache_and_without(smollm2):
    """What is timed is the same computation: 2 · 30 · 3 · 64 numbers of 4 bytes for each token."""
    for one, length in zip(time_steps(smollm2, (5, 9), repeats=2), (5, 9), strict=True):
        assert one.length == length
        assert one.difference < 1e-3
        assert one.num_bytes == (length + 1) * 2 * 30 * 3 * 64 * 4


def test_a_text_that_is_too_short_to_be_timed_is_refused(smollm2):
    with pytest.raises(ModelError, match="too few tokens"):
        time_steps(smollm2, (10**6,))


def test_losses_are_reported_text_by_text(smollm2):
    """The job stops where nobody waits; what it had is what is kept."""
    job = make_loss_job((MODEL, FULL, RING))
    job.has_visitor = lambda: len(job.reports) < 2
    assert job.run() == "cancelled"
    assert job.total == 2 * 8
    assert make_times_job(MODEL).total == 5
