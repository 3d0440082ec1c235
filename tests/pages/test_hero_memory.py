"""What the picture of the cache calculator shows is what the calculators say."""

from dataclasses import replace

import pytest

from explainers.chapters.cache_memory.hero import make_table
from explainers.chapters.cache_memory.hero_numbers import (
    AHEAD,
    COUNTS,
    LENGTHS,
    LONG,
    MANY,
    answer_ahead,
    compute_numbers,
    name_length,
)
from explainers.memory.cache_bytes import count_cache_bytes
from explainers.memory.capacity_plan import find_limit
from explainers.memory.model_shapes import find_shape, list_model_ids
from explainers.memory.serving import (
    Deployment,
    count_users,
    count_weight_bytes,
    find_longest_context,
    find_weight_format,
    has_room,
    read_gpus,
)
from explainers.memory.sizes import format_size
from explainers.ui.controls import controls
from tests.pages.test_page_memory import PAGE
from tests.support.opening import opened
from tests.support.reading import hero, said

GPUS = read_gpus()


def deployment(model, gpu="h100", gpus=1, **more):
    shape = find_shape(model)
    return Deployment(shape, GPUS[gpu], gpus, find_weight_format(shape), **more)


@pytest.mark.parametrize(
    ("model", "gpu", "gpus"),
    [("llama-3.1-8b", "h100", 1), ("gemma-3-27b", "a100-80", 2), ("deepseek-v3", "h200", 8)],
)
def test_what_is_drawn_is_what_the_calculators_say(model, gpu, gpus):
    served = deployment(model, gpu, gpus, block=16)
    numbers = compute_numbers(served, LENGTHS)
    [plan] = [one for one in numbers["plans"] if one["number"] == f"{gpus}"]
    assert plan["weights"] == count_weight_bytes(served)
    text = count_cache_bytes(find_shape(model), 131_072)
    assert numbers["once"][LENGTHS.index(131_072)] == text
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
    if gpus == 1:
        caches = [count_cache_bytes(find_shape(model), tokens) for tokens in LENGTHS]
        assert plan["caches"] == caches, "whole pages are filled"


@pytest.mark.parametrize(
    ("model", "gpu", "gpus"), [("llama-3.1-8b", "h100", 1), ("deepseek-v3", "h200", 16)]
)
def test_the_limits_are_computed_from_what_is_sent(model, gpu, gpus):
    served = deployment(model, gpu, gpus, block=16)
    [*plans] = compute_numbers(served, LENGTHS)["plans"]
    [plan] = [one for one in plans if one["number"] == f"{gpus}"]
    for place, tokens in enumerate(LENGTHS):
        for texts in COUNTS:
            reading = plan["readWeights"] + texts * plan["readCaches"][place]
            limit = find_limit(served, tokens, texts)
            assert reading == pytest.approx(float(limit.reading))
            assert texts * plan["computing"] == pytest.approx(float(limit.computing))


def test_numbers_of_gpus_that_cannot_share_the_heads_are_not_offered():
    sent = hero(opened(PAGE, {"model": "llama-4-scout", "gpu": "h200", "gpus": "4"}))
    assert [plan["number"] for plan in sent["plans"]] == ["1", "2", "4", "8"]
    [offered] = [one for one in sent["controls"] if one["key"] == "gpus"]
    assert [option["value"] for option in offered["options"]] == ["1", "2", "4", "8"]


def test_weights_whose_number_is_not_known_are_not_drawn():
    numbers = compute_numbers(deployment("glm-5", "h200", 8), LENGTHS)
    for plan in numbers["plans"]:
        assert plan["weights"] is None
        assert plan["users"] == [None] * len(LENGTHS)
        assert min(plan["caches"]) > 0
        assert "reach" not in plan


def test_a_length_of_ones_own_has_a_column_and_a_number_a_row():
    sent = hero(opened(PAGE, {"tokens": "33000", "texts": "5"}))
    assert {*LENGTHS, 33_000} < set(sent["lengths"])
    assert sent["lengths"] == sorted(sent["lengths"])
    assert sent["lengthNames"][sent["lengths"].index(33_000)] == "33,000"
    assert sent["counts"] == sorted([*COUNTS, 5, MANY])
    assert sent["choices"]["tokens"] == 33_000
    assert sent["usual"] == sent["usual"] | {"texts": 1, "model": "llama-3.1-8b"}


def test_lengths_are_named_as_they_are_advertised():
    names = [name_length(tokens) for tokens in (256, 768, 1_024, 1_536, 98_304, 2**20, 33_000)]
    assert names == ["256", "768", "1k", "1.5k", "96k", "1M", "33,000"]


def test_the_table_says_what_fits_on_each_number_of_gpus():
    served = deployment("llama-3.1-8b", block=16)
    table = make_table(compute_numbers(served, LENGTHS))
    assert list(table["tokens"]) == list(LENGTHS)
    four = [count_users(replace(served, gpus=4), tokens) for tokens in LENGTHS]
    assert list(table["texts that fit on 4 × NVIDIA H100 SXM"]) == four


def test_what_is_clicked_is_what_the_page_counts():
    visit = opened(PAGE)
    visit.session_state["tokens"] = "8,192"  # what a click does before the page runs again
    visit.run()
    assert "1,073,741,824 bytes for 1 text of 8,192 tokens" in said(visit)
    assert hero(visit)["choices"]["tokens"] == 8_192


def test_experiments_say_what_they_will_show():
    told = {one["name"]: one for one in hero(opened(PAGE))["experiments"]}
    llama, gemma = find_shape("llama-3.1-8b"), find_shape("gemma-3-27b")
    size = format_size(count_cache_bytes(llama, LONG, MANY))
    assert f"Their cache takes {size}." in told["readers"]["text"]
    for gpu, number in [("a100-80", 4), ("h100", 4), ("h200", 2), ("b200", 2)]:
        served = deployment("llama-3.1-8b", gpu, number, block=16)
        assert has_room(served, LONG, MANY)
        assert not has_room(replace(served, gpus=number // 2), LONG, MANY)
        assert f"{number} × {GPUS[gpu].name}" in told["readers"]["text"]
    assert told["readers"]["choices"]["gpus"] == "4"
    longest = find_longest_context(deployment("llama-3.1-8b", block=16))
    assert told["longest"]["choices"]["tokens"] == longest
    assert f"one text of {longest:,} tokens" in told["longest"]["text"]
    local = [group for group in gemma.require_groups() if group.window]
    assert f"{sum(group.count for group in local)} of" in told["windows"]["text"]
    assert format_size(count_cache_bytes(gemma, 131_072)) in told["windows"]["text"]
    latent = deployment("deepseek-v3", "h200", 8)
    large = {"model": "deepseek-v3", "gpu": "h200", "gpus": "8"}
    assert told["latent"]["choices"] == {"tokens": 131_072, "texts": 1, **large}
    assert format_size(count_weight_bytes(latent)) in told["latent"]["text"]
    assert has_room(latent, 131_072), "it is on so many GPUs because it fits there"


def test_what_an_experiment_chooses_can_be_drawn_without_the_server():
    for link in ({}, {"percent": "70", "cache_dtype": "fp8"}):
        sent = hero(opened(PAGE, link))
        for one in sent["experiments"]:
            if one["choices"]["model"] == "llama-3.1-8b":
                assert one["choices"]["tokens"] in sent["lengths"]
                assert one["choices"]["texts"] in sent["counts"]


def test_every_experiment_sets_everything_and_says_what_that_shows():
    asked = {"model": "gemma-3-27b", "gpus": "2", "tokens": "33000", "texts": "3"}
    usual, other = hero(opened(PAGE)), hero(opened(PAGE, asked))
    assert usual["experiments"] == other["experiments"]
    assert all(set(one["choices"]) == set(usual["choices"]) for one in usual["experiments"])


USUAL = {"model": "llama-3.1-8b", "gpu": "h100", "gpus": "1", "tokens": "131072", "texts": "1"}


def ask_ahead(**chosen):
    return answer_ahead(USUAL | chosen)


@pytest.mark.parametrize(
    "chosen",
    [
        {"model": "gemma-3-27b"},
        {"model": "deepseek-v3", "gpu": "h200", "gpus": "8"},
        {"gpu": "b200", "tokens": "33000", "texts": "5"},
    ],
)
def test_a_browser_is_told_ahead_what_the_run_sends(chosen):
    sent = hero(opened(PAGE, USUAL | chosen))
    told = ask_ahead(**chosen)
    assert told == {name: sent[name] for name in told}
    assert told.keys() >= {"model", "gpu", "lengths", "counts", "plans"}
    assert sent["ahead"] == AHEAD


@pytest.mark.parametrize(
    "odd",
    [
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
    ],
)
def test_what_only_the_page_can_show_is_left_to_it(odd):
    assert ask_ahead(**odd) is None


def test_a_browser_may_ask_ahead_for_every_model_on_offer():
    answers = [ask_ahead(model=model) for model in list_model_ids()]
    told = [one["model"] for one in answers if one]
    assert len(told) > len(answers) * 0.7
    assert told == [model for model in list_model_ids() if model in told]


@pytest.mark.parametrize("more", [{"percent": "70"}, {"cache_dtype": "fp8"}, {"page_size": "32"}])
def test_a_choice_of_the_menu_is_waited_for(more):
    assert hero(opened(PAGE, more))["ahead"] == ""
