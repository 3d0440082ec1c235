"""The start page leads to a tour and to a lecture."""

import pytest

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
