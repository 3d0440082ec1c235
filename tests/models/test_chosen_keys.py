"""Few keys in a real model: which ones, what heads make of them, and the files that are kept."""

import threading

import pytest
import torch
from torch.nn.functional import cross_entropy, kl_div
from torch.testing import assert_close

from explainers import kept
from explainers.attention import masks
from explainers.attention.grouped_query import share
from explainers.attention.indexer import index_scores, keep_best
from explainers.attention.untrained_choice import choose_blocks, evict_least_read, score_blocks
from explainers.folders import ASSETS
from explainers.models import indexers as trained
from explainers.models.attention_hook import run_model
from tests.models.test_attention_hook import ours
from workshop.models import key_policies as policies
from workshop.models import measure_indexers

LENGTH, LAYERS = 64, 3
PROSE, TWICE = trained.PROSE, trained.TWICE
IDS = torch.randint(11, (1, LENGTH), generator=torch.Generator().manual_seed(5))
CAUSAL = masks.build(masks.causal, LENGTH, LENGTH)
SIZE = trained.IndexerSize(2, 8)
LOSSES = kept.read(trained.CHOOSING).tolerance[measure_indexers.LOSSES]


@pytest.fixture(scope="module")
def model():
    """A Llama of 3 layers, 6 heads and 2 KV heads."""
    return ours("Llama")


@pytest.fixture(scope="module")
def indexers(model):
    random, width = torch.Generator().manual_seed(0), model.config.hidden_size
    return [trained.draw_indexer(SIZE, width, random) for _layer in range(LAYERS)]


def recorded(model, *changes):
    return run_model(model, changes=changes, input_ids=IDS, use_cache=False).layers


def test_an_oracle_keeps_the_largest_weights_of_all_heads_or_of_each(model):
    first = recorded(model)[0]
    shared, own = (
        recorded(model, policies.OracleKeys(kept=5, is_shared=how))[0] for how in (True, False)
    )
    mean = first.weights.mean(1, keepdim=True)
    for found, weights in ((shared, mean), (own, first.weights)):
        chosen = keep_best(weights, 5, CAUSAL)
        again = first.weights * chosen
        assert_close(found.weights, again / again.sum(-1, keepdim=True))
        assert_close(found.output, found.weights @ share(first.value, 3))
    assert len((shared.weights > 0).any(1).sum(-1).unique()) <= 5
    assert not torch.equal(shared.weights, own.weights)


def test_an_indexer_of_each_layer_reads_what_its_layer_reads(model, indexers):
    with trained.watch_inputs(model) as inputs:
        other = threading.Thread(target=recorded, args=(model,))
        other.start()
        other.join()
        assert not inputs, "of this thread alone"
        layers = recorded(model, policies.IndexedKeys(kept=7, indexers=indexers, inputs=inputs))
    read = recorded(model)[0]
    x = model.model.layers[0].input_layernorm(model.model.embed_tokens(IDS))[0]
    assert_close(inputs[0], x)
    for layer, found in enumerate(layers):
        scores = index_scores(*trained.project_text(inputs[layer], indexers[layer]))
        assert torch.equal(found.mask[0, 0], keep_best(scores, 7, CAUSAL))
    again = read.weights * layers[0].mask
    assert_close(layers[0].weights, again / again.sum(-1, keepdim=True))


def test_blocks_and_evicted_rows_are_those_of_the_heads_own_keys(model):
    first = recorded(model)[0]
    scores = score_blocks(first.query, share(first.key, 3), 8)
    found = recorded(model, policies.BlockKeys(size=8, kept=24, keeps_first=False))[0]
    assert torch.equal(found.mask[0], choose_blocks(scores, 8, 3, False)[0])
    held = evict_least_read(first.scores, 12, 6)
    assert torch.equal(recorded(model, policies.EvictedKeys(kept=12))[0].weights > 0, held)


def test_the_loss_is_of_the_second_half(model, indexers):
    logits = model(IDS).logits[0]
    expected = cross_entropy(logits[LENGTH // 2 - 1 : -1], IDS[0, LENGTH // 2 :]).item()
    assert policies.compute_half_loss(model, IDS) == pytest.approx(expected, abs=1e-5)
    of_all, of_two = (
        policies.compute_indexed_loss(model, IDS, indexers, kept) for kept in (LENGTH, 2)
    )
    assert of_all == pytest.approx(expected, abs=1e-5)
    assert abs(of_two - expected) > 1e-4


def test_training_makes_the_softmax_more_like_the_heads(model):
    """By the divergence that torch computes, row by row."""
    reading = trained.read_layers(model, IDS, 1)[1]
    assert len(trained.read_layers(model, IDS, 1)) == 2, "later layers are not read"
    assert_close(reading.weights, recorded(model)[1].weights[0].mean(0))
    states = list(trained.train_indexer([reading], SIZE, 3, 40))
    rows, kl = torch.arange(4, LENGTH), []
    for indexer in (states[0].indexer, states[-1].indexer):
        scores = index_scores(*trained.project_text(reading.x, indexer))
        by_torch = [
            kl_div(scores[n, : n + 1].log_softmax(0), reading.weights[n, : n + 1], reduction="sum")
            for n in rows.tolist()
        ]
        kl.append(trained.compute_kl(indexer, reading, rows))
        assert_close(kl[-1], sum(by_torch) / len(rows))
    assert kl[1] < 0.8 * kl[0]
    again = list(trained.train_indexer([reading], SIZE, 3, 40))[-1]
    assert torch.equal(again.indexer.w_query, states[-1].indexer.w_query)


# What is kept with the app.


@pytest.mark.nightly("five losses of the real model: its weights and what is kept change together")
def test_a_sample_of_what_was_measured_is_measured_again(smollm2):
    """The picture's layer, number by number; and one loss of each kind."""
    shipped, texts = trained.read_indexers(), measure_indexers.list_texts(smollm2)
    indexers = measure_indexers.read_packed_indexers()
    passage = shipped.passages[PROSE]
    assert texts[PROSE][0].tolist() == passage.ids
    assert texts[TWICE][0].tolist() == shipped.passages[TWICE].ids
    reading = trained.read_layers(smollm2.model, texts[PROSE], passage.layer)[-1]
    assert_close(reading.weights, passage.weights, atol=2e-3, rtol=0)
    inputs = trained.project_text(reading.x, indexers[passage.layer])
    assert_close(inputs.key, passage.inputs.key, atol=1e-2, rtol=1e-2)
    model, prose = smollm2.model, texts[PROSE]
    own = policies.OracleKeys(kept=64, is_shared=False)
    blocks = policies.BlockKeys(size=16, kept=64)
    found = {
        "texts": {PROSE: {"full": policies.compute_half_loss(model, prose)}},
        "own": {"64": policies.compute_half_loss(model, prose, own)},
        "indexer": {"loss": policies.compute_indexed_loss(model, prose, indexers, 64)},
        "evicted": {"64": policies.compute_half_loss(model, prose, policies.EvictedKeys(kept=64))},
        "blocks": {"16 first": policies.compute_half_loss(model, prose, blocks)},
    }
    apart = dict(measure_indexers.list_differences(found, shipped.numbers))
    assert len(apart) == 5
    assert measure_indexers.compare_numbers(found, shipped.numbers)
    assert max(apart.values()) <= LOSSES, apart
    drawn = passage.losses[trained.INDEXER][trained.KEPT.index(64)]
    assert drawn == shipped.numbers["indexer"]["loss"]


def test_training_starts_as_it_did(smollm2):
    """In the shown layer: first steps tell texts, sizes and seeds apart."""
    shipped = trained.read_indexers()
    layer = shipped.passages[PROSE].layer
    told = measure_indexers.measure_training(smollm2, layer)
    assert measure_indexers.compare_numbers({"training": told}, shipped.numbers)
    other = {"start": measure_indexers.measure_training(smollm2, layer, seed=layer + 1)["start"]}
    assert not measure_indexers.compare_numbers({"training": other}, shipped.numbers)


def test_the_check_allows_rounding_and_no_change():
    shipped = trained.read_indexers().numbers
    prose = shipped["texts"][PROSE]
    for other, is_right in (
        ({"full": prose["full"] + 0.9 * LOSSES}, True),
        ({"full": prose["full"] + 1.1 * LOSSES}, False),
        ({"query": prose["query"] + 1}, False),
        ({"tokens": ["other", *prose["tokens"][1:]]}, False),
        ({"ids": prose["ids"][:-1]}, False),
        ({"unknown": 1.0}, False),
    ):
        found = {"texts": {PROSE: prose | other}}
        assert measure_indexers.compare_numbers(found, shipped) == is_right
    files = (ASSETS / f"{trained.CHOOSING}.{ending}" for ending in ("safetensors", "json"))
    assert sum(file.stat().st_size for file in files) <= 1_600_000
