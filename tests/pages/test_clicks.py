"""A number that was clicked before the sentence changed."""

import json

from explainers.toys.sentence import SENTENCE
from explainers.ui.figure.panels import Cell
from tests.support.opening import ROOT, opened, pictures, widgets

PAGE = ROOT / "pages" / "04_scores.py"


def temperatures(visit):
    """The linked picture with the two tables of weights."""
    drawn = [json.loads(picture)[0] for picture in pictures(visit) if picture.startswith("[")]
    [found] = [one for one in drawn if "panels" in one and one["panels"][0]["id"] == "warm"]
    return found


def test_a_clicked_number_that_is_gone_is_forgotten():
    last = len(SENTENCE.split()) - 1
    visit = opened(PAGE, {"text": SENTENCE, "deep": "temperature"})
    visit.session_state["clicked in temperature"] = Cell("weights", last, last)
    shown = temperatures(visit.run())
    assert shown["selected"] == {"panel": "weights", "row": last, "column": last}
    assert "Friday" in shown["working"]["title"]
    for text in (SENTENCE.removesuffix(" Friday"), "CEO"):
        widgets(visit)["text"].set_value(text)
        visit.run()
        assert not visit.exception
        assert temperatures(visit)["selected"] is None
        assert temperatures(visit)["working"] is None
