"""A list of names that the browser draws: what it may ask for, and what a link may."""

import pytest

from explainers.ui.controls import controls
from explainers.ui.figure.picker import accepts
from tests.support.opening import ROOT, opened

PAGE = ROOT / "pages" / "10_cache_memory.py"
NAMES = ("one", "two", "three")


@pytest.mark.parametrize(
    ("told", "most", "may_be"),
    [
        (["two"], 1, True),
        ([], 1, False),
        (["one", "two"], 1, False),
        ([], 2, True),
        (["three", "one"], 2, True),
        (["one", "one"], 2, False),
        (["one", "two", "three"], 2, False),
        (["four"], 2, False),
        ("one", 3, False),
        ([1], 3, False),
        (None, 1, False),
    ],
)
def test_a_browser_may_ask_for_names_of_the_list(told, most, may_be):
    assert accepts(told, NAMES, most) is may_be


def test_what_is_chosen_keeps_its_order_and_stands_in_the_link():
    visit = opened(PAGE, {"compared": ["gpt2", "deepseek-v3", "llama-2-7b"]})
    assert visit.session_state["compared"] == ["gpt2", "deepseek-v3", "llama-2-7b"]
    visit.session_state["compared"] = ["opt-13b", "gpt2"]
    assert visit.run().query_params["compared"] == ["opt-13b", "gpt2"]
    visit.session_state["compared"] = [*controls.compared_models.default]
    assert "compared" not in visit.run().query_params
    visit.session_state["compared"] = []
    assert "".join(visit.run().query_params["compared"]) == "", "taken away, all of them"
