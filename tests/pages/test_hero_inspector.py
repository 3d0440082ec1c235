"""What the picture of the inspector shows is what the model computes."""

import base64

import pytest
import torch

from explainers.chapters.common.recording import record_text
from explainers.chapters.inspector.hero import (
    MOST_DRAWN,
    cut_heads,
    find_telling_heads,
    load_toy_heads,
)
from explainers.chapters.inspector.sentence_run import View, describe_cut
from explainers.chapters.inspector.shipped_sentence import read_shipped_sentence
from explainers.models import load as loading_module
from explainers.models import registry
from explainers.models.load import is_on_disk, load_model
from explainers.toys.sentence import SENTENCE
from explainers.ui.figure.head_tiles import HIDDEN, STEPS
from tests.pages.test_page_inspector import ID, PAGE, TEXT, unpacked, visited
from tests.support import saved_models
from tests.support.opening import opened
from tests.support.reading import hero, said


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    monkeypatch.setattr(loading_module, "_models", {})
    saved_models.llama(registry.locate_folder(ID))
    return load_model(ID)


def test_the_squares_are_the_weights_of_all_heads(tiny):
    shown = record_text(tiny, TEXT)
    found = hero(visited())
    assert (found["layers"], found["heads"], found["group"]) == (2, 6, 2)
    assert found["tokens"] == TEXT.split()
    steps = unpacked(base64.b64decode(found["planes"]), 2, 6, 5, 5)
    forbidden = ~shown.masks[:, None].expand(2, 6, 5, 5)
    assert torch.equal(steps == HIDDEN, forbidden)
    weights = torch.where(forbidden, 0, steps) / STEPS
    assert torch.allclose(weights, shown.weights, atol=0.5 / STEPS + 1e-7)
    assert found["parked"] == int((shown.first_token_weights > 0.3).sum())
    assert found["onFirst"] == pytest.approx(shown.weights[..., 0].mean().item(), abs=1e-4)


def test_telling_heads_are_sorted_by_their_largest_weight_between_distant_tokens(tiny):
    heads = cut_heads(record_text(tiny, TEXT))
    found = find_telling_heads(heads)
    assert len({(layer, head) for layer, head, _query in found}) == len(found) == 12
    best = [
        max(heads.weights[layer, head, query, key].item() for key in range(1, query - 1))
        for layer, head, query in found
        if query >= 3
    ]
    assert best == sorted(best, reverse=True)
    assert best[0] == max(
        heads.weights[..., query, key].max().item()
        for query in range(5)
        for key in range(1, query - 1)
    )


def test_the_page_opens_on_the_most_telling_head_also_of_another_sentence(tiny):
    def chosen(visit):
        choices = hero(visit)["choices"]
        return choices["model_layer"], choices["model_head"], choices["token"]

    assert chosen(visited()) == find_telling_heads(cut_heads(record_text(tiny, TEXT)))[0]
    visit = visited(model_layer="1", model_head="4", token="3")
    assert chosen(visit) == (1, 4, 3)
    text = "CEO record earnings the announced CEO"
    visit.text_input("text").set_value(text).run()
    assert chosen(visit) == find_telling_heads(cut_heads(record_text(tiny, text)))[0]


def test_a_missing_model_is_replaced_by_small_heads_that_say_so(tiny):
    found = hero(visited(real_model="someone/other-model"))
    assert (found["isToy"], found["model"], found["experiments"]) == (True, "other-model", [])
    toys = load_toy_heads("someone/other-model")
    assert toys.shape == (1, found["heads"]) == (1, 8)
    assert found["tokens"] == SENTENCE.split()
    sums = toys.weights.sum(dim=-1)
    assert torch.allclose(sums, torch.ones_like(sums))


def test_a_long_text_is_cut_for_the_picture_alone(smollm2):
    text = " ".join(["the bank raised the rate"] * 8)
    shown = record_text(smollm2, text)
    heads = cut_heads(shown)
    assert len(shown.tokens) > MOST_DRAWN == len(heads.tokens)
    assert torch.equal(heads.weights, shown.weights[..., :MOST_DRAWN, :MOST_DRAWN])
    told = describe_cut(View(smollm2, text, shown))
    assert (told["drawn"], told["count"]) == (MOST_DRAWN, len(shown.tokens))


def test_of_a_model_that_reads_both_ways_its_last_token_is_no_find(minilm):
    shown = record_text(minilm, SENTENCE)
    heads = cut_heads(shown)
    assert not heads.is_causal
    last = len(heads.tokens) - 1
    found, largest = find_telling_heads(heads), []
    for layer, head, query in found:
        far = {
            (row, key): heads.weights[layer, head, row, key].item()
            for row in range(last)
            for key in range(1, last)
            if abs(row - key) > 1
        }
        assert max(far, key=lambda place: far[place])[0] == query
        largest.append(max(far.values()))
    assert largest == sorted(largest, reverse=True)
    assert largest[0] < heads.weights[..., : last - 1, last].max(), "but the last one gets more"


@pytest.mark.nightly("what was kept of real models is read again")
@pytest.mark.parametrize("model", [one.id for one in registry.WHEEL_MODELS])
def test_what_is_shipped_is_what_the_model_reads(model):
    shipped = read_shipped_sentence(model)
    if shipped is None or not is_on_disk(model):
        pytest.skip("no model here: python -m explainers.models fetch says why")
    live = cut_heads(record_text(load_model(model), SENTENCE))
    assert (shipped.name, shipped.tokens) == (live.name, live.tokens)
    assert shipped.group_size == live.group_size
    assert torch.equal(shipped.hidden, live.hidden)
    assert torch.allclose(shipped.weights, live.weights.cpu(), atol=1e-3)
    assert find_telling_heads(shipped)[0] == find_telling_heads(live)[0]


def test_the_model_is_seen_before_it_is_loaded(tiny):
    """Nothing is on disk: the running sentence as it was measured, another one of small heads."""
    model = registry.WHEEL_MODELS[0].id
    visit = opened(PAGE, {"real_model": model, "text": SENTENCE})
    found = hero(visit)
    assert (found["isToy"], found["layers"], found["experiments"]) == (False, 30, [])
    assert (
        "weights rounded to 4 bits; not the published bf16 · measured beforehand, kept with the app"
        in said(visit)
    )
    assert any("is not on this machine" in note.value for note in visit.warning)
    assert hero(opened(PAGE, {"real_model": model, "text": "Who called?"}))["isToy"]


def test_a_link_waits_for_the_model(tiny):
    """Small heads have no layer 5; the model that they stand in for may have one."""
    visit = opened(PAGE, {"real_model": "someone/else", "model_layer": "5", "model_head": "3"})
    assert hero(visit)["choices"]["model_layer"] == 0
    assert visit.query_params["model_layer"] == "5"
    assert not visit.info
