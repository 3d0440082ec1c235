"""Writing with a real model's cache: the choice of a token, the same text without it, its jobs."""

import pytest
import torch
from torch.testing import assert_close
from transformers.generation.logits_process import (
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from explainers.models import written_tokens as writing
from explainers.models.attention_hook import run_model
from explainers.models.registry import ModelError
from explainers.models.shipped_measurements import GREEDY, MODEL, PROMPT, read_shipped_writing
from explainers.models.written_tokens import Sampling, WritingRequest, make_writing_job
from tests.support.tiny_families import tiny_inside

LOGITS = 3 * torch.randn(5, 41, generator=torch.Generator().manual_seed(0))
IDS = torch.tensor([[3, 14, 15, 9, 2, 6]])
COUNT = 4


@pytest.fixture(scope="module")
def model():
    """A tiny Llama with our attention, which ends no text; its logits are far apart."""
    return tiny_inside("Llama", torch.float64, head_dim=10, eos_token_id=None)


def written(model, sampling=None, count=12, seed=0, has_cache=True, ids=IDS):
    random = torch.Generator().manual_seed(seed)
    sampling = sampling or Sampling()
    return list(writing.write_tokens(model, ids, count, sampling, random, has_cache))


def test_restrictions_are_those_of_transformers():
    for temperature in (0.3, 1.0, 2.5):
        warped = TemperatureLogitsWarper(temperature)(None, LOGITS)
        assert_close(writing.heat(LOGITS, temperature), warped)
    for count in (1, 7, 40, 41, 99):
        assert_close(writing.keep_top_k(LOGITS, count), TopKLogitsWarper(count)(None, LOGITS))
    for share in (1e-9, 0.01, 0.3, 0.9, 0.999):
        assert_close(writing.keep_top_p(LOGITS, share), TopPLogitsWarper(share)(None, LOGITS))
    assert writing.keep_top_p(99 * LOGITS, 1.0).isfinite().all(), "also those of almost no share"
    for logits in LOGITS:  # and all three together
        expected = logits[None]
        for warp in (TemperatureLogitsWarper(0.7), TopKLogitsWarper(9), TopPLogitsWarper(0.8)):
            expected = warp(None, expected)
        all_three = Sampling(temperature=0.7, top_k=9, top_p=0.8)
        assert_close(all_three.restrict(logits), expected[0])


def test_tokens_are_drawn_as_often_as_their_probabilities_say():
    logits = torch.tensor([0.1, 0.0, 0.6, 0.3]).log()
    drawn = writing.draw(logits.expand(20_000, 4), torch.Generator().manual_seed(0))
    shares = torch.bincount(drawn, minlength=4) / 20_000
    assert_close(shares, torch.tensor([0.1, 0.0, 0.6, 0.3]), atol=0.015, rtol=0)
    assert shares[1] == 0


@pytest.mark.parametrize(
    ("change", "number", "said"),
    [
        (writing.heat, 0, "temperature of 0 is not above 0"),
        (writing.keep_top_k, 0, "best 0 tokens"),
        (writing.keep_top_p, 0, "share of 0 is not"),
        (writing.keep_top_p, 1.5, "share of 1.5 is not"),
    ],
)
def test_what_cannot_be_is_named(change, number, said):
    with pytest.raises(ValueError, match=said):
        change(LOGITS, number)


def test_greedy_writes_what_transformers_writes_with_the_cache_and_without(model):
    with_cache, without = written(model), written(model, has_cache=False)
    assert [one.token_id for one in with_cache] == [one.token_id for one in without]
    assert len({one.token_id for one in with_cache}) > 3, "not one token again and again"
    theirs = model.generate(IDS, max_new_tokens=12, do_sample=False, use_cache=True)
    assert [one.token_id for one in with_cache] == theirs[0, IDS.shape[1] :].tolist()
    for step, one in enumerate(with_cache):  # layers · KV heads · numbers · bytes
        assert one.cache_bytes == 2 * 3 * 2 * 10 * 8 * (IDS.shape[1] + step)
    for ours, again in zip(with_cache, without, strict=True):
        assert_close(ours.weights, again.weights, atol=1e-5, rtol=0)
        assert_close(ours.logits.softmax(-1), again.logits.softmax(-1), atol=1e-5, rtol=0)
        assert again.cache_bytes == 0
    so_far = torch.cat([IDS, theirs[:, IDS.shape[1] : -1]], dim=1)
    _output, layers = run_model(model, input_ids=so_far, use_cache=False)
    whole = torch.stack([layer.weights[0, :, -1].float() for layer in layers])
    assert_close(with_cache[-1].weights, whole, atol=1e-5, rtol=0)


def test_only_what_may_be_drawn_is_written_and_the_same_with_a_seed(model):
    for one in written(model, Sampling(temperature=2.0, top_k=3), seed=4):
        assert one.token_id in one.logits.topk(3).indices
    hot = Sampling(temperature=3.0)
    texts = [[one.token_id for one in written(model, hot, seed=seed)] for seed in (0, 0, 1)]
    assert texts[0] == texts[1] != texts[2]


def test_a_text_ends_where_the_model_ends_it(model, monkeypatch):
    third = written(model)[2].token_id
    monkeypatch.setattr(model.generation_config, "eos_token_id", [third])
    steps = written(model)
    assert steps[-1].token_id == third
    assert third not in [one.token_id for one in steps[:-1]]


def test_lengths_are_bounded_before_anything_is_read(model):
    with pytest.raises(ModelError, match=f"from 1 to {writing.MOST_PROMPT} tokens"):
        written(model, ids=torch.ones(1, writing.MOST_PROMPT + 1, dtype=torch.long))
    with pytest.raises(ModelError, match=f"1 to {writing.MOST_WRITTEN} tokens can be written"):
        written(model, count=writing.MOST_WRITTEN + 1)


def make_job(prompt):
    return make_writing_job(WritingRequest(MODEL, prompt, COUNT, Sampling(), 0))


def test_a_job_writes_the_text_that_is_kept(smollm2):
    job = make_job(PROMPT)
    assert job.run() == "done"
    kept = read_shipped_writing()
    assert kept
    assert job.result
    text = kept.texts[GREEDY]
    told = [(one.token, one.num_bytes) for one in job.result.steps]
    assert told == [(one.token, one.num_bytes) for one in text.steps[:COUNT]]
    assert job.reports[COUNT - 1] == job.result.text == "".join(token for token, _bytes in told)
    assert len(job.reports) == job.total == 2 * COUNT == 2 * len(job.result.seconds_without)
    assert job.result.words[5] == " Northwind", "two tokens of the prompt are one word"
    for step, merged in zip(job.result.steps, job.result.merged, strict=True):
        rows = {head: row for _word, _weight, head, row in step.looks}
        same = [(row, rows[head]) for _word, _weight, head, row in merged.looks if head in rows]
        assert same
        for row, tokens in same:
            assert row[5] == pytest.approx(tokens[5] + tokens[6], abs=2e-3)
            assert row[6:] == pytest.approx(tokens[7:], abs=1e-3)


def test_what_is_too_long_is_refused_and_who_leaves_is_not_written_for(smollm2):
    long = make_job("word " * 400)
    assert (long.run(), "reads at most 256 tokens" in long.problem) == ("failed", True)
    left = make_job(PROMPT)
    left.has_visitor = lambda: len(left.reports) < 2
    assert (left.run(), len(left.reports)) == ("cancelled", 2)
