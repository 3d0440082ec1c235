"""*Why did it look there*: the kept numbers are the model's; what cannot be split is told."""

from unittest import mock

import pytest

from explainers import kept
from explainers.chapters.why_it_looked.hero import CELLS, EXPLAINED
from explainers.ui.controls import controls
from tests.support.opening import PAGES, opened
from tests.support.reading import hero, said
from tests.support.real_models import list_far
from workshop.why_it_looked import PARTS, explain_example

PAGE = next(page for page in PAGES if page.stem == "20_why_it_looked")
ROUNDING = kept.read(EXPLAINED).tolerance[PARTS]


def test_the_kept_numbers_are_those_of_the_model(smollm2):
    live = {name: one._asdict() for name, one in explain_example(smollm2).items()}
    stored = kept.read(EXPLAINED).numbers["cells"]
    assert list(live) == list(stored) == list(CELLS)
    assert list_far(live, stored, ROUNDING) == []


@pytest.mark.usefixtures("smollm2")
def test_a_weight_of_ones_own_is_explained_word_by_word():
    text = "Thẩm phán gặp Ann Lee. Ann"
    link = {"why_whose": "own", "why_text": text, "why_layer": "29", "as_words": "true"}
    visit = opened(PAGE, link | {"why_query": "7", "why_key": "3"})
    assert not visit.error
    shown = hero(visit)["cells"][controls.OWN_TEXT]
    assert shown["said"]["which"] == "L29.H3"
    assert shown["tokens"][:2] == ["Thẩm", " phán"], "each of several tokens"
    assert len(shown["places"]) == len(shown["tokens"])
    assert shown["places"][shown["query"]] >= 7 > shown["places"][shown["query"] - 1]
    assert shown["weight"] <= shown["row"][shown["key"]] + ROUNDING
    for looked in (shown["row"], *shown["looked"].values()):
        assert sum(looked) == pytest.approx(1, abs=ROUNDING)


@pytest.mark.usefixtures("smollm2")
@pytest.mark.parametrize("text", ["One two", "word " * 75])
def test_a_text_that_cannot_be_split_is_refused(text):
    visit = opened(PAGE, {"why_whose": "own", "why_text": text})
    assert not visit.exception
    assert visit.error or visit.info
    assert set(hero(visit)["cells"]) == set(CELLS), "the examples stay"


def test_without_kept_numbers_the_page_says_how_to_make_them():
    with mock.patch("explainers.models.shipped_measurements.has_other_weights") as other:
        other.return_value = True
        visit = opened(PAGE, {})
    assert not visit.exception
    assert "workshop.why_it_looked" in said(visit)
