"""What the picture of the cache calculator shows is what the calculators say."""

import pytest

from explainers.chapters.cache_memory.hero import (
    AHEAD,
    COUNTS,
    LENGTHS,
    MANY,
    answer_ahead,
    compute_numbers,
    make_table,
)
from explainers.memory.model_shapes import find_shape, list_model_ids
from explainers.memory.serving import Deployment, read_gpus
from explainers.ui.controls import controls
from tests.pages.test_page_memory import PAGE
from tests.support.opening import opened
from tests.support.reading import hero

USUAL = {"model": "llama-3.1-8b", "gpu": "h100", "gpus": "1", "tokens": "131072", "texts": "1"}


def test_the_table_has_a_row_for_each_length():
    served = Deployment(find_shape("llama-3.1-8b"), read_gpus()["h100"])
    numbers = compute_numbers(served, LENGTHS)
    table, plan = make_table(numbers), numbers["plans"][1]
    assert list(table["tokens"]) == list(LENGTHS)
    assert list(table["texts that fit on 2 × NVIDIA H100 SXM"]) == plan["users"]


def test_a_length_and_a_number_of_ones_own_are_among_those_drawn():
    visit = opened(PAGE, {"tokens": "33000", "texts": "5"})
    sent = hero(visit)
    assert sent["lengths"] == sorted({*sent["lengths"], *LENGTHS, 33_000})
    assert sent["lengthNames"][sent["lengths"].index(33_000)] == "33,000"
    assert sent["counts"] == sorted([*COUNTS, 5, MANY])
    visit.session_state["tokens"] = "8,192"  # what a click does before the page runs again
    assert hero(visit.run())["choices"]["tokens"] == 8_192


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
