"""What the browser changes by itself, a slider or a click: what was sent for it, and forgotten."""

import pytest

from explainers.toys.sentence import SENTENCE
from explainers.ui.figure.panels import MOST_NUMBERS, Cell
from tests.support.opening import PAGES, opened, widgets
from tests.support.reading import figure, figures

TOKENS, KEYS, SCORES = PAGES[1:4]
CARDS = {
    "query_key_value": (KEYS, {"deep": "parameters"}),
    "scores, untrained": (SCORES, {"deep": "steps", "weights": "untrained", "d_k": "3"}),
    "scores, output": (SCORES, {"deep": "steps", "step": "output", "column": "3"}),
    "tokens": (TOKENS, {"deep": "waves", "clock": "7", "d_model": "16"}),
}


def sized(visit):
    """The one picture whose sizes change."""
    [found] = [data for data in figures(visit) if data["view_slider"]]
    return found


def look(data, place):
    """What the browser makes of a view: the picture, with what is other in the view."""
    view = data["views"][str(place)]
    own = {panel["id"]: panel for panel in data["panels"]}
    return view | {"panels": [own.get(panel["id"], {}) | panel for panel in view["panels"]]}


@pytest.mark.rotating(3)
@pytest.mark.parametrize(("page", "link"), CARDS.values(), ids=CARDS)
def test_a_view_is_what_the_server_draws_there(page, link):
    """Every number, the number that is looked at, and its arithmetic."""
    data = sized(opened(page, link))
    key, labels = data["view_slider"]["name"], data["view_slider"]["labels"]
    assert data["views"]
    for place in map(int, data["views"]):
        asked = {key: labels[place].replace(",", "")}
        drawn, view = sized(opened(page, link | asked)), look(data, place)
        assert drawn["view_slider"]["index"] == place
        assert view == {name: drawn[name] for name in view}


def test_of_large_matrices_fewer_views_are_sent():
    link = {"deep": "parameters", "d_k": "64"}
    small, large = (
        sized(opened(KEYS, link | {"d_model": width, "d_v": "4"})) for width in ("4", "128")
    )
    assert len(small["views"]) > len(large["views"])
    for data in (small, large):
        drawn = [data["panels"], *(look(data, place)["panels"] for place in data["views"])]
        numbers = [len(one["rows"]) * len(one["columns"]) for panels in drawn for one in panels]
        assert sum(numbers) <= MOST_NUMBERS


def test_a_clicked_number_that_is_gone_is_forgotten():
    last = len(SENTENCE.split()) - 1
    visit = opened(SCORES, {"text": SENTENCE})
    visit.session_state["clicked in all words"] = Cell("weights", last, last)
    shown = figure(visit.run(), "products")
    assert shown["selected"] == {"panel": "weights", "row": last, "column": last}
    assert "Friday" in shown["working"]["title"]
    for text in (SENTENCE.removesuffix(" Friday"), "CEO"):
        widgets(visit)["text"].set_value(text)
        visit.run()
        assert not visit.exception
        assert figure(visit, "products")["selected"] is None
        assert figure(visit, "products")["working"] is None
