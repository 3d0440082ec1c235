"""The picture of serving: what a reader's model computes for it, and pages step by step."""

import pytest

from explainers.chapters.serving.cards import BLOCK, LEAST_GAP, read_shipped, write_gap
from explainers.chapters.serving.hero import (
    NOTHING,
    OTHERS,
    REAL,
    ROUNDING,
    compute_numbers,
    describe_pages,
)
from explainers.models.registry import locate_folder
from explainers.models.served_prompts import Prompts
from tests.support import saved_models
from tests.support.opening import ROOT, opened
from tests.support.reading import hero, said

PAGE = ROOT / "pages" / "15_serving.py"
GPT2 = "openai-community/gpt2"
SERVING = read_shipped()


def test_a_chunk_that_is_further_off_than_rounding_is_called_so():
    sizes, largest = SERVING.chunks()
    wrong = [*sizes[:2], sizes[2]._replace(gap=1.5 * sizes[2].limit), sizes[3]]
    broken = SERVING._replace(chunks=lambda: (wrong, largest))
    told = compute_numbers(broken, "chunks", -1)["chunks"]["sizes"].values()
    assert [one["kind"] for one in told] == [NOTHING, ROUNDING, REAL, ROUNDING]


def test_a_difference_is_written_with_two_digits():
    told = {0: "0", 3.94e-5: "0.000039", 0.0001: "0.00010", 15.34: "15.3"}
    for gap, written in (told | {LEAST_GAP / 2: "< 0.000000001"}).items():
        assert write_gap(gap) == written


def test_a_model_reads_the_readers_prompt_when_it_is_loaded(no_models):
    """Only what is chosen is computed; the answer to a click comes from the server."""
    saved_models.llama(locate_folder(GPT2), longest=64)
    link = {"real_model": GPT2, "beginning": "the CEO announced record", "changed": "2"}
    visit = opened(PAGE, link)
    assert not visit.exception
    assert not visit.error
    live = hero(visit)
    assert live["elsewhere"] == ["trick", "changed"]
    assert live["tokens"][0][:4] == ["the", "CEO", "announced", "record"]
    assert set(live["changes"]) == {"-1", "2"}
    assert live["changes"]["2"]["shared"] == 2
    assert (live["chunks"], live["drafts"]) == (None, None)
    assert hero(opened(PAGE, link | {"trick": "chunks"}))["chunks"]
    assert hero(opened(PAGE, link | {"trick": "drafts"}))["drafts"]


def test_the_kept_numbers_are_shown_where_no_model_can_serve(no_models):
    visit = opened(PAGE, {"beginning": "Something else."})
    assert "not the published bf16 · measured beforehand" in said(visit)
    assert hero(visit)["tokens"][0][0] == "You"
    saved_models.llama(locate_folder(GPT2), longest=4)
    short = opened(PAGE, {"real_model": GPT2})
    assert "Not with this model" in short.error[0].value
    assert hero(short)["changes"]["-1"]["shared"] == len(SERVING.prompts.others)


@pytest.mark.parametrize("lengths", [(24, 25, 19), (8, 9, 8), (8, 8, 8), (5, 12, 0), (7, 30, 3)])
def test_pages_hold_each_prompt_in_its_order(lengths):
    first, second, shared = lengths
    ids = [[*range(first)], [*range(shared), *range(100, 100 + second - shared)]]
    tokens = [[f"w{one}" for one in prompt] for prompt in ids]
    story = describe_pages(Prompts(tokens, ids, []))
    assert len(story) == 5
    for step, moment in enumerate(story):
        read = [
            [word for page in table for word in moment["slots"][page]][:filled]
            for table, filled in zip(moment["tables"], moment["filled"], strict=True)
        ]
        known = (min(shared, second - 1), min(shared, second - 1) + 1, second, second)
        assert read[0] == (tokens[0] if step < 4 else [])
        assert read[1] == (tokens[1][: known[step - 1]] if step else [])
        used = [page for table in moment["tables"] for page in table] + [*OTHERS]
        assert moment["users"] == [used.count(page) for page in range(len(moment["users"]))]
    copied = min(shared, second - 1) % BLOCK
    assert story[2]["copied"] == copied
