"""The picture that opens the page on choosing keys: orders, weights, losses, the training."""

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
    PROSE,
    TWICE,
    WINDOW,
    read_files,
)
from tests.support.opening import PAGES, opened
from tests.support.reading import hero, said

PAGE = next(page for page in PAGES if page.stem == "13_choosing")
SHIPPED = read_files()


@pytest.mark.parametrize(("name", "query"), [(PROSE, 0), (TWICE, 70), (PROSE, 399)])
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
