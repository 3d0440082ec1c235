"""Prompts in a real model: what is reused, chunks and drafts, against runs without any of that."""

import pytest
import torch
from torch.testing import assert_close

from explainers import kept
from explainers.chapters.serving.cards import BLOCK, MODEL, MOST_TOKENS, SERVING, join_prompts
from explainers.models import served_prompts as served
from explainers.models.load import load_model
from explainers.models.registry import ModelError, locate_folder
from tests.support import saved_models
from tests.support.real_models import real
from workshop import keep, serving
from workshop.serving import REPORT, find_differences, measure_all, write_report

TREE, CAUSAL, COUNTED = served.READINGS
GPT2 = "openai-community/gpt2"
ONE, TWO = [0, 1, 2, 3, 4, 1], [0, 1, 2, 3, 4, 2, 3]


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """A Llama of 2 layers and five words, under a name that is offered."""
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    saved_models.llama(locate_folder(GPT2))
    return load_model(GPT2)


def test_logits_are_the_models_own_and_go_on_from_a_cache(tiny):
    own = tiny.model(torch.tensor([TWO])).logits[0].detach()
    whole, cache = served.read_ids(tiny, TWO)
    assert_close(whole, own)
    late, _cache = served.read_ids(tiny, TWO[4:], served.keep_rows(cache, 4))
    assert_close(late, own[4:])
    assert served.keep_rows(cache, 0) is None


def test_a_changed_token_moves_later_rows_of_later_layers_only(tiny):
    changed = [*TWO]
    changed[2] = 4
    found = served.measure_reuse(tiny, TWO, changed, block=2)
    assert found.moved == ["0010000", "0011111"]
    assert (found.shared, found.blocks) == (2, 1)
    whole = served.measure_reuse(tiny, TWO, TWO, block=1)
    assert (whole.shared, whole.blocks) == (7, 7), "its last row is computed all the same"
    assert (whole.moved, whole.logits_gap < 1e-5) == (["0" * 7] * 2, True)


def test_drafts_are_read_right_by_the_tree_alone(tiny):
    tree = served.measure_drafts(tiny, "the CEO announced", 20)
    assert tree.parents == [-1, -1, -1, 0, 0, 1, 1, 2, 2]
    assert max(tree.gaps[TREE]) < 1e-5
    assert max(tree.gaps[CAUSAL]) > 1e-3
    assert max(tree.gaps[TREE]) <= tree.limit < min(max(tree.gaps[w]) for w in (COUNTED, CAUSAL))
    assert max(tree.gaps[COUNTED]) > 20 * max(tree.gaps[TREE]), "untrained, positions matter little"
    assert tree.right == [0, 3], "the most probable drafts are right, as greedy writing goes"
    plain, said = served.write_text(tiny, "the CEO announced the CEO", 12, 0)
    fast, same = served.write_text(tiny, "the CEO announced the CEO", 12, 4)
    assert (fast.ids, same) == (plain.ids, said)
    assert plain.passes == 12 > fast.passes


@pytest.mark.nightly("all prompts, chunks, drafts and texts in the real model: near a minute")
def test_what_is_kept_is_what_the_model_gives():
    """All of it: with tokens, counts and rows that are equal, and numbers that are near."""
    real(MODEL)
    assert find_differences(kept.read(SERVING).numbers, measure_all()) == []


def test_numbers_can_be_kept_where_none_are(monkeypatch, tmp_path):
    stored = kept.read(SERVING).numbers
    monkeypatch.setattr(serving, "measure_all", lambda: stored)
    monkeypatch.setattr(serving, "REPORT", tmp_path / "REPORT.md")
    monkeypatch.setattr(keep, "compute_fingerprint", lambda _folder: "of a test")
    for module in (keep, kept):
        monkeypatch.setattr(module, "ASSETS", tmp_path)
    kept.read.cache_clear()
    try:
        serving.main([])
        assert kept.read(SERVING).numbers == stored
        serving.main(["--check"])
    finally:
        kept.read.cache_clear()


def test_a_piece_of_what_is_kept_is_what_the_model_gives():
    loaded, stored = real(MODEL), kept.read(SERVING).numbers
    assert REPORT.read_text(encoding="utf-8") == write_report(stored)
    assert find_differences({**stored, "largest": stored["largest"] + 1}, stored) == ["largest"]
    prompts = served.cut_prompts(loaded, join_prompts(stored["beginning"]), MOST_TOKENS)
    assert (prompts.tokens, prompts.ids) == (stored["tokens"], stored["ids"])
    with pytest.raises(ModelError, match="at most 4"):
        served.cut_prompts(loaded, ["the CEO announced the CEO", "the"], 4)
    alike = [(" Monday", " Friday"), (" on", " in"), (",", ".")]
    assert all(served.is_alike(*pair) for pair in alike)
    others = [(" Friday", " Fridays"), (" friday", " Monday"), ("Monday", " Friday"), (" ,", " a")]
    assert not any(served.is_alike(*pair) for pair in others)
    first, second = prompts.ids
    now = served.measure_reuse(loaded, first, second, BLOCK)._asdict()
    assert find_differences(stored, {**stored, "reuse": {**stored["reuse"], "-1": now}}) == []


def test_a_real_difference_is_not_called_rounding(tiny, monkeypatch):
    """A cache that is a little wrong, by a thousandth of each key and value."""
    reused = served.measure_reuse(tiny, ONE, TWO, block=2)
    assert (reused.shared, reused.blocks, reused.moved) == (5, 2, ["0000011", "0000011"])
    assert (reused.is_rounding, reused.logits_gap < 1e-5) == (True, True)
    right, _largest = served.measure_chunks(tiny, TWO, [7, 3])
    assert [(one.passes, one.weights) for one in right] == [(1, 49), (3, 18)]
    assert all(one.gap <= one.limit for one in right)

    def spoil(cache):
        for layer in cache.layers if cache else ():
            layer.keys, layer.values = layer.keys * 1.001, layer.values * 1.001
        return cache

    keep, read = served.keep_rows, served.read_ids
    monkeypatch.setattr(served, "keep_rows", lambda *given: spoil(keep(*given)))
    monkeypatch.setattr(
        served, "read_ids", lambda of, ids, cache=None, **m: read(of, ids, spoil(cache), **m)
    )
    found = served.measure_reuse(tiny, ONE, TWO, block=2)
    assert not found.is_rounding
    (whole, chunks), _largest = served.measure_chunks(tiny, TWO, [7, 3])
    assert whole.gap <= whole.limit
    assert chunks.gap > chunks.limit


def test_the_limit_of_rounding_is_that_of_the_models_numbers(tiny):
    config = tiny.model.config
    for kind, sums in (torch.float32, config.hidden_size), (torch.bfloat16, 12):
        limit = 3.0 * torch.finfo(kind).eps * (config.num_hidden_layers * sums) ** 0.5
        assert served.limit_rounding(tiny.model.to(kind), 3.0) == pytest.approx(limit)
