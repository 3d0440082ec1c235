"""*Choosing what to read*: five keys, orders, weights and losses, the questions, the training."""

import random
import re

import pytest
import torch
from torch.nn.functional import kl_div
from torch.testing import assert_close

from explainers.attention import masks
from explainers.attention.indexer import keep_best
from explainers.chapters.choosing import cost_tables, five_keys, questions, takeaway
from explainers.chapters.choosing.hero import compute_numbers, measure_kept, rank_keys
from explainers.chapters.choosing.indexer_job import LOOKS, make_indexer_job, train_with
from explainers.chapters.claims import about_reading
from explainers.chapters.claims.claim_table import CONDITION, FAILS
from explainers.models.indexer_training import STEPS
from explainers.models.shipped_indexers import (
    FIRST,
    INDEXER,
    KEPT,
    ORACLE,
    PROSE,
    TWICE,
    WINDOW,
    Shipped,
    read_files,
)
from explainers.ui.text.numbers import A_LITTLE_WORSE, MUCH_WORSE, NO_WORSE, judge_rise
from tests.support.opening import PAGES, ROOT, opened
from tests.support.reading import hero, panels, said

PAGE = next(page for page in PAGES if page.stem == "13_choosing")
SHIPPED = read_files()
PASSAGE = SHIPPED.passages[PROSE]


def test_five_keys_are_computed_from_products_to_the_mask():
    row = five_keys.compute_row(PASSAGE)
    query, key, share = PASSAGE.inputs
    products = torch.stack([query[head, 4] @ key[:5].T for head in range(2)]) / 4
    assert_close(row.products, products)
    scores = (products.clamp(min=0) * share[4][:, None]).sum(0) / 2**0.5
    assert_close(row.scores, scores)
    assert_close(row.said, scores.softmax(0))
    assert row.kept.nonzero()[:, 0].tolist() == sorted(scores.topk(2).indices.tolist())
    expected = kl_div(row.said.log(), row.weights, reduction="sum").item()
    assert row.divergence == pytest.approx(expected)
    sent = panels(opened(PAGE), "products")
    assert list(sent) == ["products", "shares", "scores", "weights", "mask"]


def test_a_shared_set_is_judged_by_its_loss():
    def shipped(shared, own):
        losses = {ORACLE: [shared] * len(KEPT)}
        passages = {PROSE: PASSAGE._replace(losses=losses)}
        return Shipped(passages, {"own": {"64": own}}, ())

    assert questions.answer_sharing(shipped(3.6, 3.6)) == NO_WORSE
    assert questions.answer_sharing(shipped(3.65, 3.6)) == A_LITTLE_WORSE
    assert questions.answer_sharing(shipped(4.0, 3.6)) == MUCH_WORSE
    assert questions.answer_sharing(SHIPPED) == NO_WORSE


def test_a_rise_of_the_loss_has_three_names():
    assert [*map(judge_rise, (-1, 0.0099, 0.01, 0.2499, 0.25))] == [
        *(NO_WORSE, NO_WORSE, A_LITTLE_WORSE, A_LITTLE_WORSE, MUCH_WORSE)
    ]


def test_streaming_llm_renumbers_so_no_column_has_its_name():
    for file in (ROOT / "assets" / "text" / "en").glob("*.md"):
        for named in re.findall("StreamingLLM.{0,200}", file.read_text("utf-8"), re.DOTALL):
            assert "Xiao et al. 2023" in named, file.name
            assert "positions" in named or "anew" in named, file.name


def test_the_sizes_of_the_heads_are_the_models(smollm2):
    config = smollm2.model.config
    heads = cost_tables.NUM_HEADS, cost_tables.HEAD_DIM, cost_tables.D_MODEL
    assert heads == (config.num_attention_heads, config.head_dim, config.hidden_size)
    assert cost_tables.name_costs()["share"] == "1/18"


def test_h2o_is_called_better_only_where_it_is():
    first = SHIPPED.passages[PROSE].losses["first"]
    for wins in (0, 3, len(KEPT)):
        shifts = [-0.011] * wins + [-0.009] * (len(KEPT) - wins)
        losses = {f"{kept}": one + by for kept, one, by in zip(KEPT, first, shifts, strict=True)}
        told = cost_tables.name_evictions(SHIPPED._replace(numbers={"evicted": losses}))
        assert told["wins"] == f"{wins}"


@pytest.mark.parametrize("seed", range(5))
def test_the_question_on_two_keys_has_the_answer_of_its_numbers(seed):
    asked = questions.recall_index(random.Random(seed))
    numbers = {name: float(one.replace("−", "-")) for name, one in asked.given.items()}
    scores = [
        sum(max(0.0, numbers[f"{key}_{n}"]) * numbers[f"share_{n}"] for n in ("one", "two"))
        for key in ("first", "second")
    ]
    assert asked.answer == f"the {'first' if scores[0] > scores[1] else 'second'} key"


def test_what_is_taken_away_is_the_picture():
    taken = takeaway.choose_keys(
        PASSAGE.inputs.query[:, 100:101],
        PASSAGE.inputs.key[:101],
        PASSAGE.inputs.share[100:101],
        PASSAGE.weights[100:101, :101],
        torch.ones(1, 101, dtype=torch.bool),
        16,
    )
    assert_close(taken["scores"][0], PASSAGE.score_keys()[100, :101])
    assert int(taken["kept"].sum()) == int((taken["oracle"] > 0).sum() * 16) == 16
    assert taken["weight kept"] <= taken["oracle"]


def test_claims_are_judged_by_the_losses():
    assert (
        about_reading.few_keys_lose_nothing(128, "prose").numbers["full"]
        == f"{PASSAGE.full_loss:.3f}"
    )
    # The page Choosing calls a rise of .01 a little worse: it is not nothing here.
    rise = PASSAGE.losses[ORACLE][KEPT.index(64)] - PASSAGE.full_loss
    assert judge_rise(rise) == A_LITTLE_WORSE
    assert about_reading.few_keys_lose_nothing(64, "prose").verdict == FAILS
    assert about_reading.few_keys_lose_nothing(128, "prose").verdict == CONDITION
    own = SHIPPED.numbers["own"]["64"]
    shared = PASSAGE.losses[ORACLE][KEPT.index(64)]
    told = about_reading.heads_need_their_own_keys(64).numbers
    assert (told["own"], told["shared"]) == (f"{own:.3f}", f"{shared:.3f}")


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
