"""The picture that opens the page on choosing keys: orders, weights, losses, the training."""

import json

import pytest
import torch

from explainers.attention import masks
from explainers.attention.indexer import keep_best
from explainers.chapters.choosing.hero import compute_numbers, measure_kept, rank_keys
from explainers.chapters.choosing.indexer_job import LOOKS, make_indexer_job, train_with
from explainers.models.indexer_training import STEPS
from explainers.models.shipped_indexers import (
    FIRST,
    INDEXER,
    KEPT,
    ORACLE,
    POLICIES,
    PROSE,
    TWICE,
    WINDOW,
    read_files,
)
from explainers.ui.text.numbers import write_percent
from tests.support.opening import PAGES, opened
from tests.support.reading import hero, said

PAGE = next(page for page in PAGES if page.stem == "13_choosing")
SHIPPED = read_files()


@pytest.mark.parametrize("name", [PROSE, TWICE])
@pytest.mark.parametrize("query", [0, 70, 399])
def test_orders_are_the_sets_that_are_kept(name, query):
    passage = SHIPPED.passages[name]
    sent, mask = compute_numbers(passage, query), masks.build(masks.causal, *passage.weights.shape)
    for policy, numbers in ((ORACLE, passage.weights), (INDEXER, passage.score_keys())):
        for kept in KEPT:
            chosen = keep_best(numbers, kept, mask)[query].nonzero()[:, 0].tolist()
            assert sorted(sent["orders"][policy][:kept]) == chosen
    assert sent["weights"] == pytest.approx(passage.weights[query, : query + 1].tolist(), abs=1e-6)


def test_weight_kept_is_that_of_the_masks():
    passage, query, kept = SHIPPED.passages[PROSE], SHIPPED.passages[PROSE].query, 64
    found = measure_kept(passage, query, kept)
    keys = torch.arange(query + 1)
    first = (keys < 4) | (keys > query - 60)
    assert int(first.sum()) == int((keys > query - 64).sum()) == 64
    assert found[FIRST] == pytest.approx(float(passage.weights[query, : query + 1][first].sum()))
    assert found[WINDOW] < found[FIRST] < found[INDEXER] < found[ORACLE] < 1


def test_the_first_query_is_one_that_only_the_indexer_can_answer():
    prose, twice = (SHIPPED.passages[name] for name in (PROSE, TWICE))
    found = measure_kept(prose, prose.query, 64)
    assert found[INDEXER] > 0.8 * found[ORACLE] > 2 * found[FIRST]
    found = measure_kept(twice, twice.query, 48)
    assert found[INDEXER] < 0.8 * found[ORACLE], "it misses the first copy"
    copied = twice.weights[twice.query, twice.query - 200 : twice.query - 198]
    assert float(copied.sum()) > 0.3


def test_losses_have_the_readers_decimal_mark():
    sent = hero(opened(PAGE, {"lang": "vi"}))
    assert sent["full"] == f"{SHIPPED.passages[PROSE].full_loss:.2f}".replace(".", ",")
    assert sent["losses"][WINDOW][0] == f"{SHIPPED.passages[PROSE].losses[WINDOW][0]:.2f}".replace(
        ".", ","
    )


def test_what_is_sent_is_what_was_measured():
    sent = hero(opened(PAGE))
    prose = SHIPPED.passages[PROSE]
    assert sent["choices"] == {
        "read_text": PROSE,
        "kept_by": INDEXER,
        "keys_kept": 64,
        "query_token": prose.query,
    }
    assert sent["losses"] == {
        name: [f"{loss:.2f}" for loss in prose.losses[name]] for name in POLICIES
    }
    assert sent["full"] == f"{prose.full_loss:.2f}"
    assert sent["frames"] == []
    assert len(json.dumps(sent)) < 60_000


def test_a_link_chooses_text_query_keys_and_policy():
    link = {"read_text": TWICE, "query_token": "300", "keys_kept": "16", "kept_by": "window"}
    sent = hero(opened(PAGE, link))
    assert sent["choices"] == {**link, "query_token": 300, "keys_kept": 16}
    assert len(sent["weights"]) == 301
    absurd = opened(PAGE, {"read_text": "x", "query_token": "9999", "keys_kept": "7"})
    assert not absurd.exception
    assert hero(absurd)["choices"] == hero(opened(PAGE))["choices"]


def test_experiments_say_what_the_picture_will_show():
    sent = hero(opened(PAGE))
    window, few, twice = sent["experiments"]
    prose, again = SHIPPED.passages[PROSE], SHIPPED.passages[TWICE]
    at = KEPT.index(64), KEPT.index(16), KEPT.index(48)
    assert write_percent(SHIPPED.numbers["weight"][WINDOW]) in window["text"]
    assert f"to {prose.losses[WINDOW][at[0]]:.2f}" in window["text"]
    assert f"indexer {prose.losses[INDEXER][at[1]]:.2f}" in few["text"]
    assert f"indexer {again.losses[INDEXER][at[2]]:.2f}" in twice["text"]
    assert f"loss {again.full_loss:.2f}" in twice["text"]
    assert twice["choices"]["query_token"] == again.query


@pytest.mark.parametrize("spoken", ["en", "vi"])
def test_sentences_have_no_other_slots_than_the_picture_fills(spoken):
    sent = hero(opened(PAGE, {"lang": spoken}))
    filled = {"place", "word", "kept", "keys", "first", "near", "full", "loss", "first_share"}
    filled |= {"oracle", "indexer", "window", "share"}
    for name, template in sent["texts"].items():
        slots = {part.split("}}")[0] for part in template.split("{{")[1:]}
        assert slots <= filled, name


def test_equal_numbers_are_ranked_by_their_place():
    assert rank_keys(torch.tensor([0.0, 2.0, 0.0, 2.0, 9.0]), 3) == [1, 3, 0, 2]


def test_training_walks_from_a_drawn_indexer_to_one_that_finds_the_keys(smollm2):
    passage = SHIPPED.passages[PROSE]
    job = make_indexer_job(PROSE, passage)
    job.work = lambda job: train_with(smollm2, STEPS, passage, job)
    assert job.run() == "done"
    assert [one.step for one in job.reports] == [*LOOKS, STEPS]
    assert job.total == len(job.reports)
    assert job.reports[-1].divergence < job.reports[0].divergence / 2
    sent = compute_numbers(passage, passage.query, job.reports)
    kept = [sum(sent["weights"][key] for key in one["order"][:64]) for one in sent["frames"]]
    assert kept[0] < 0.5 < kept[-1]


def test_a_machine_without_the_model_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    visit = opened(PAGE)
    assert "python -m explainers.models fetch" in said(visit)
    assert hero(visit)["tokens"]
    assert not visit.exception
