"""The start page says what attention is for, and leads to a tour and to a lecture."""

import pytest

from explainers import kept
from explainers.ui.page_parts.first_picture import MEASURED
from tests.support.opening import PAGES, opened
from tests.support.real_models import list_far
from workshop import what_for

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
    stored = kept.read(MEASURED)
    allowed = stored.tolerance["probabilities"]
    assert list_far(what_for.measure(smollm2), stored.numbers, allowed) == []
