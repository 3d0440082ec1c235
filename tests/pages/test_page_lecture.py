"""In front of a class, as the server draws it: all steps in turn, to the same scales."""

import json

import pytest

from tests.support.opening import ROOT, elements, opened

PAGE = ROOT / "pages" / "04_scores.py"
ON = {"lecture": "true"}
CARD = {"deep": "steps"}
STEPS = [
    ("**1 · Products: Q · Kᵀ.**", "def dot_products"),
    ("**2 · Scores: ÷ √d_k.**", "def scale"),
    ("**3 · Weights: mask and softmax.**", "def softmax"),
    ("**4 · Output: weights · V.**", "def mix"),
]


def linked(visit):
    """The matrices of each linked picture."""
    drawn = [json.loads(e.proto.json) for e in elements(visit.main) if e.type == "bidi_component"]
    return [figure[0]["panels"] for figure in drawn if "panels" in figure[0]]


def scales(pictures):
    """Each matrix that is drawn: its name, and between which numbers its colours lie."""
    return [(panel["name"], panel["low"], panel["high"]) for panels in pictures for panel in panels]


def test_a_class_goes_through_all_four_steps_and_a_reader_chooses_one():
    lecture = opened(PAGE, ON)
    assert not lecture.exception
    told = [e.value for e in elements(lecture.main) if e.type in ("markdown", "code")]
    place = 0
    for heading, code in STEPS:
        place = next(n for n, text in enumerate(told) if n > place and text.startswith(heading))
        place = next(n for n, text in enumerate(told) if n > place and code in text)
    alone = opened(PAGE, {**CARD, "step": "scores"})
    assert len(linked(lecture)) == len(linked(alone)) + 3 + 1, "the other card has a picture, too"
    assert not alone.code
    assert alone.button_group("step").value == "scores"


@pytest.mark.parametrize(
    "link", [{}, {"text": "the bank raised the rate", "weights": "untrained"}, {"mask": "causal"}]
)
def test_the_steps_are_drawn_to_the_same_scale(link):
    """Whatever matrix is drawn twice, and all three kinds of scores, so that ÷ √d_k is seen."""
    drawn = linked(opened(PAGE, {**ON, **link}))
    first = next(at for at, panels in enumerate(drawn) if panels[0]["id"] == "Q")
    steps = scales(drawn[first : first + len(STEPS)])
    of = {
        name: {(low, high) for again, low, high in steps if again == name} for name, _, _ in steps
    }
    assert [name for name, _, _ in steps].count("products") == 2
    assert all(len(domains) == 1 for domains in of.values())
    assert of["products"] == of["scores"] == of["masked"]
    assert of["weights"] == {(0, 1)}


def test_the_step_that_was_chosen_is_there_after_the_lecture():
    visit = opened(PAGE, {**ON, **CARD, "step": "weights"})
    visit.toggle("lecture").set_value(False).run()
    assert visit.button_group("step").value == "weights"
    assert len(linked(visit)) == len(linked(opened(PAGE, CARD)))
