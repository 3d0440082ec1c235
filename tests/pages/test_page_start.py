"""The start page says what attention is for, and leads to a tour and to a lecture."""

import json

import pytest

from explainers.chapters.start import what_for
from explainers.ui.page_parts.where_in_model import FILE
from tests.support.opening import PAGES, opened

WAYS = {"10-minute tour": "tour", "Lecture mode": "lecture"}


@pytest.mark.parametrize("label", WAYS)
def test_a_button_begins_the_tour_or_the_lecture(label):
    visit = opened(PAGES[0], {"predict": "false", "text": "The team praised young fans"})
    next(button for button in visit.main.button if button.label == label).click().run()
    assert not visit.exception
    assert WAYS[label] in visit.query_params


@pytest.mark.parametrize("link", [{"tour": "1"}, {"lecture": "true"}])
def test_who_is_on_the_way_is_not_asked_again(link):
    assert not {button.label for button in opened(PAGES[0], link).main.button} & {*WAYS}


def test_what_attention_changes_is_what_the_model_says(smollm2):
    """What is kept was measured with it, and stands above the picture."""
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    measured = what_for.measure(smollm2)
    assert kept | {"next_tokens": ...} == measured | {"next_tokens": ...}
    for (token, *chances), (same, *again) in zip(
        kept["next_tokens"], measured["next_tokens"], strict=True
    ):
        assert (token, chances) == (same, pytest.approx(again, abs=1e-3))
    [where] = [one.value for one in opened(PAGES[0]).main.caption if "you are here" in one.value]
    assert kept["text"].endswith(where.split("*… ")[1].split("*")[0])
    with_others, alone = (max(kept["next_tokens"], key=lambda one: one[n])[0] for n in (1, 2))
    assert f"**“{with_others.strip()}”**; without attention, with “{alone.strip()}”" in where


def test_days_follow_where_words_see_others_and_nothing_where_they_do_not():
    """By hand: the five days of a week come first, and with no word in sight none of them does."""
    kept = json.loads(FILE.read_text(encoding="utf-8"))["next_tokens"]
    days = {" Monday", " Tuesday", " Wednesday", " Thursday", " Friday"}
    with_others, alone = (sorted(kept, key=lambda one: -one[column])[:5] for column in (1, 2))
    assert {one[0] for one in with_others} == days
    assert not {one[0] for one in alone} & days
