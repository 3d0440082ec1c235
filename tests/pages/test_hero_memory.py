"""What the picture of the cache calculator shows is what the calculators say."""

import pytest

from explainers.chapters.cache_memory.hero import make_table
from explainers.chapters.cache_memory.hero_numbers import (
    AHEAD,
    COUNTS,
    LENGTHS,
    MANY,
    answer_ahead,
    compute_numbers,
)
from explainers.memory.cache_bytes import count_cache_bytes
from explainers.memory.capacity_plan import find_limit
from explainers.memory.model_shapes import find_shape, list_model_ids
from explainers.memory.serving import (
    Deployment,
    count_users,
    count_weight_bytes,
    find_weight_format,
    has_room,
    read_gpus,
)
from explainers.ui.controls import controls
from tests.pages.test_page_memory import PAGE
from tests.support.opening import opened
from tests.support.reading import hero, said

GPUS = read_gpus()
USUAL = {"model": "llama-3.1-8b", "gpu": "h100", "gpus": "1", "tokens": "131072", "texts": "1"}


def deployment(model, gpu="h100", gpus=1):
    shape = find_shape(model)
    return Deployment(shape, GPUS[gpu], gpus, find_weight_format(shape), block=16)


@pytest.mark.parametrize(
    ("model", "gpu", "gpus"),
    [("llama-3.1-8b", "h100", 1), ("gemma-3-27b", "a100-80", 2), ("deepseek-v3", "h200", 16)],
)
def test_what_is_drawn_is_what_the_calculators_say(model, gpu, gpus):
    served = deployment(model, gpu, gpus)
    numbers = compute_numbers(served, LENGTHS)
    [plan] = [one for one in numbers["plans"] if one["number"] == f"{gpus}"]
    assert plan["weights"] == count_weight_bytes(served)
    caches = [count_cache_bytes(find_shape(model), tokens) for tokens in LENGTHS]
    assert numbers["once"][LENGTHS.index(131_072)] == caches[LENGTHS.index(131_072)]
    if gpus == 1:
        assert plan["caches"] == caches, "whole pages are filled"
    assert plan["isCopied"] == [model == "deepseek-v3"] * len(LENGTHS)
    assert plan["memory"] == gpus * GPUS[gpu].memory_bytes
    assert plan["users"] == [count_users(served, tokens) for tokens in LENGTHS]
    start = plan["weights"] + plan["overhead"]
    for place, tokens in enumerate(LENGTHS):
        reach = plan["reach"][numbers["samples"].index(tokens)]
        for texts in COUNTS:
            fits = has_room(served, tokens, texts)
            assert fits == (start + texts * plan["caches"][place] <= plan["usable"])
            assert fits == (texts <= reach), "the line divides what fits from what does not"
            limit = find_limit(served, tokens, texts)
            reading = plan["readWeights"] + texts * plan["readCaches"][place]
            assert reading == pytest.approx(float(limit.reading))
            assert texts * plan["computing"] == pytest.approx(float(limit.computing))
    table = make_table(numbers)
    assert list(table["tokens"]) == list(LENGTHS)
    assert list(table[f"texts that fit on {gpus} × {GPUS[gpu].name}"]) == plan["users"]


def test_what_is_not_known_or_cannot_be_is_not_drawn():
    for plan in compute_numbers(deployment("glm-5", "h200", 8), LENGTHS)["plans"]:
        assert plan["weights"] is None
        assert plan["users"] == [None] * len(LENGTHS)
        assert min(plan["caches"]) > 0
        assert "reach" not in plan
    sent = hero(opened(PAGE, {"model": "llama-4-scout", "gpu": "h200", "gpus": "4"}))
    numbers = ["1", "2", "4", "8"]  # 40 query heads cannot be shared by 16
    assert [plan["number"] for plan in sent["plans"]] == numbers
    [offered] = [one for one in sent["controls"] if one["key"] == "gpus"]
    assert [option["value"] for option in offered["options"]] == numbers
    refused = opened(PAGE, {"model": "llama-4-scout", "gpus": "16"})
    assert "40 query heads cannot be split over 16 ranks" in refused.warning[0].value
    assert "A large model may need less than a small one." in said(refused)


def test_a_length_of_ones_own_has_a_column_and_a_number_a_row():
    visit = opened(PAGE, {"tokens": "33000", "texts": "5"})
    sent = hero(visit)
    assert {*LENGTHS, 33_000} < set(sent["lengths"])
    assert sent["lengths"] == sorted(sent["lengths"])
    assert sent["lengthNames"][sent["lengths"].index(33_000)] == "33,000"
    assert sent["counts"] == sorted([*COUNTS, 5, MANY])
    assert sent["choices"]["tokens"] == 33_000
    visit.session_state["tokens"] = "8,192"  # what a click does before the page runs again
    assert hero(visit.run())["choices"]["tokens"] == 8_192
    assert f"{5 * 8_192 * 131_072:,} bytes for 5 texts of 8,192 tokens" in said(visit)


def test_experiments_set_everything_and_are_drawn_without_the_server():
    asked = {"model": "gemma-3-27b", "gpus": "2", "tokens": "33000", "texts": "3"}
    usual, other = hero(opened(PAGE)), hero(opened(PAGE, asked))
    assert usual["experiments"] == other["experiments"]
    tuned = hero(opened(PAGE, {"percent": "70", "cache_dtype": "fp8"}))
    for sent in (usual, tuned):
        for chosen in (one["choices"] for one in sent["experiments"]):
            assert set(chosen) == set(sent["choices"])
            if chosen["model"] == "llama-3.1-8b":
                assert chosen["tokens"] in sent["lengths"]
                assert chosen["texts"] in sent["counts"]
    longest = next(one for one in usual["experiments"] if one["name"] == "longest")
    limit, served = longest["choices"]["tokens"], deployment("llama-3.1-8b")
    assert has_room(served, limit)
    assert not has_room(served, limit + 1)
    assert has_room(deployment("deepseek-v3", "h200", 8), 131_072), "so it is on so many GPUs"


@pytest.mark.parametrize(
    "chosen",
    [
        {"model": "deepseek-v3", "gpu": "h200", "gpus": "8"},
        {"gpu": "b200", "tokens": "33000", "texts": "5"},
    ],
)
def test_a_browser_is_told_ahead_what_the_run_sends(chosen):
    sent, told = hero(opened(PAGE, USUAL | chosen)), answer_ahead(USUAL | chosen)
    assert told == {name: sent[name] for name in told or ()}
    assert told.keys() >= {"model", "gpu", "lengths", "counts", "plans"}
    assert sent["ahead"] == AHEAD


def test_what_only_the_page_can_show_is_left_to_it():
    for odd in [
        {"model": "no such model"},
        {"model": controls.OWN},
        {"model": "glm-5"},  # the page asks for its number of parameters
        {"model": "whisper-large-v3"},  # and for the length of the other text
        {"model": "llama-4-scout", "gpus": "16"},  # its heads cannot be shared out
        {"gpu": "abacus"},
        {"gpus": "3"},
        {"tokens": "0"},
        {"tokens": "9" * 40},
        {"texts": ""},
    ]:
        assert answer_ahead(USUAL | odd) is None, odd
    for more in ({"percent": "70"}, {"cache_dtype": "fp8"}):
        assert hero(opened(PAGE, more))["ahead"] == "", "a choice of the menu is waited for"


@pytest.mark.nightly("every model; each kind of them is asked for by day")
def test_a_browser_may_ask_ahead_for_every_model_on_offer():
    answers = [answer_ahead(USUAL | {"model": model}) for model in list_model_ids()]
    told = [one["model"] for one in answers if one]
    assert len(told) > len(answers) * 0.7
    assert told == [model for model in list_model_ids() if model in told]
