"""The 10-minute tour: seven pages, a picture and a sentence each, and nothing that asks."""

import pytest

from explainers.ui import tour
from tests.support.opening import PAGES, ROOT, opened, pictures, press, settled, widgets
from tests.support.reading import said
from tests.support.tiers import take_turns

STOPS = [ROOT / path for path in tour.STOPS]
SWITCHES = {"predict", "lecture", "lang", "seed", "queries"}
ON = {"tour": "1", "predict": "true"}
BUTTONS = {"Leave the tour", "Back", "Next", "Open the Inspector"}
pytestmark = pytest.mark.usefixtures("small_models")


def go(visit, key):
    visit = settled(visit.button(key=key).click().run())
    assert not visit.exception
    return visit


def test_the_tour_goes_on_in_order_and_a_stop_is_a_picture_and_a_sentence():
    visit, titles = opened(STOPS[0], ON), []
    for number, stop in enumerate(STOPS, start=1):
        titles.append(visit.title[0].value)
        assert visit.query_params["tour"] == "1"
        assert len(pictures(visit)) == 1, "with a real model on this machine or without"
        assert "**In one sentence.**" in said(visit)
        assert f"{number} of {len(STOPS)}" in said(visit)
        assert not visit.main.expander
        assert not visit.main.radio
        assert not any(one.value.startswith("## ") for one in visit.main.markdown)
        assert {one.label for one in visit.main.button} <= BUTTONS
        if stop != STOPS[-1]:  # before the end no stop waits for a choice
            assert set(widgets(visit)) <= SWITCHES
            visit = go(visit, "tour next")
    assert titles[-1] == "What if"
    assert not [one for one in visit.button if one.key == "tour next"]
    assert go(visit, "tour back").title[0].value == titles[-2]


def test_who_leaves_the_tour_has_the_page_again():
    visit = go(opened(STOPS[3], {**ON, "text": "The team praised young fans"}), "tour leave")
    assert "tour" not in visit.query_params
    assert visit.main.expander
    assert visit.text_input(key="text").value == "The team praised young fans"


def test_a_page_that_is_no_stop_says_so():
    for page in take_turns([page for page in PAGES if page not in STOPS], 2):
        visit = opened(page, ON)
        assert not visit.exception
        assert "not a stop" in said(visit)
        assert press(visit, "Back to the tour").title[0].value == "Attention in one picture"


@pytest.mark.parametrize(("asked", "done"), [("2", ""), ("", ""), ("<b>", ""), ("01.02", "01.02")])
def test_a_link_to_another_tour_is_told_and_an_old_one_names_the_pages_that_are_done(asked, done):
    visit = opened(STOPS[0], {"tour": asked})
    assert not visit.exception
    assert "tour" not in visit.query_params
    assert ["tour" in note.value for note in visit.info] == ([] if done else [True])
    assert visit.query_params.get("pages_done", "") == done


def test_the_tour_ends_with_the_readers_sentence():
    visit = opened(STOPS[-1], ON)
    visit.text_input[-1].set_value("My cat sleeps")
    press(visit, "Open the Inspector")
    assert visit.title[0].value == "Inspector"
    assert "tour" not in visit.query_params
