"""What the picture of the cache calculator shows is what the calculators say."""

import pytest

from explainers.chapters.cache_memory.hero import COUNTS, LENGTHS, compute_numbers
from explainers.memory.cache_bytes import count_cache_bytes
from explainers.memory.model_shapes import find_shape
from explainers.memory.serving import (
    GIB,
    Deployment,
    count_users,
    count_weight_bytes,
    find_weight_format,
    has_room,
    read_gpus,
)
from explainers.memory.sizes import format_size
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
    numbers = compute_numbers(served, LENGTHS, COUNTS)
    assert numbers["weights"] == pytest.approx(count_weight_bytes(served) / GIB, abs=1e-6)
    text = count_cache_bytes(find_shape(model), 131_072)
    assert numbers["once"][0][LENGTHS.index(131_072)] == format_size(text)
    assert numbers["isCopied"] == [model == "deepseek-v3"] * len(LENGTHS)
    assert numbers["memory"] * GIB == gpus * GPUS[gpu].memory_bytes
    assert numbers["users"] == [count_users(served, tokens) for tokens in LENGTHS]
    start = numbers["weights"] + numbers["overhead"]
    for tokens, cache in zip(LENGTHS, numbers["caches"], strict=True):
        for texts in COUNTS:
            fits = start + texts * cache <= numbers["usable"]
            assert fits == has_room(served, tokens, texts)
    if gpus == 1:
        caches = [count_cache_bytes(find_shape(model), tokens) / GIB for tokens in LENGTHS]
        assert numbers["caches"] == caches, "whole pages are filled"
    texts, tokens = 4, 6
    size = count_cache_bytes(find_shape(model), LENGTHS[tokens], COUNTS[texts])
    if gpus == 1:
        assert numbers["sizes"][texts][tokens] == format_size(size)


def test_weights_whose_number_is_not_known_are_not_drawn():
    numbers = compute_numbers(deployment("glm-5", "h200", 8), LENGTHS, COUNTS)
    assert numbers["weights"] is None
    assert numbers["users"] == [None] * len(LENGTHS)
    assert min(numbers["caches"]) > 0


def test_a_length_of_ones_own_has_a_column_and_a_number_a_row():
    sent = hero(opened(PAGE, {"tokens": "33000", "texts": "3"}))
    assert sent["lengths"] == sorted([*LENGTHS, 33_000])
    assert sent["lengthNames"][sent["lengths"].index(33_000)] == "33,000"
    assert sent["counts"] == sorted([*COUNTS, 3])
    assert sent["choices"]["tokens"] == 33_000
    assert sent["usual"] == sent["usual"] | {"texts": 1, "model": "llama-3.1-8b"}


def test_what_is_clicked_is_what_the_page_counts():
    visit = opened(PAGE)
    visit.session_state["tokens"] = "8,192"  # what a click does before the page runs again
    visit.run()
    assert "1,073,741,824 bytes for 1 text of 8,192 tokens" in said(visit)
    assert hero(visit)["choices"]["tokens"] == 8_192


def test_experiments_say_what_they_will_show():
    told = {one["name"]: one for one in hero(opened(PAGE))["experiments"]}
    llama, gemma = find_shape("llama-3.1-8b"), find_shape("gemma-3-27b")
    assert f"take {format_size(count_cache_bytes(llama, 8_192, 64))}" in told["readers"]["text"]
    local = [group for group in gemma.require_groups() if group.window]
    assert f"{sum(group.count for group in local)} of" in told["windows"]["text"]
    assert format_size(count_cache_bytes(gemma, 131_072)) in told["windows"]["text"]
    latent = deployment("deepseek-v3", "h200", 8)
    large = {"model": "deepseek-v3", "gpu": "h200", "gpus": "8"}
    assert told["latent"]["choices"] == {"tokens": 131_072, "texts": 1, **large}
    assert format_size(count_weight_bytes(latent)) in told["latent"]["text"]
    assert has_room(latent, 131_072), "it is on so many GPUs because it fits there"


def test_every_experiment_sets_everything_and_says_what_that_shows():
    asked = {"model": "gemma-3-27b", "gpus": "2", "tokens": "33000", "texts": "3"}
    usual, other = hero(opened(PAGE)), hero(opened(PAGE, asked))
    assert usual["experiments"] == other["experiments"]
    assert all(set(one["choices"]) == set(usual["choices"]) for one in usual["experiments"])
