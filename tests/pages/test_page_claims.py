"""Claims: a sentence is judged, computed, and its sizes are changed."""

import re

import pytest

from explainers.chapters.claims.claim_table import make_table, read_claims
from explainers.ui.untrusted_text import make_title
from tests.pages.test_bad_links import VALUES
from tests.support.opening import ROOT, opened, press
from tests.support.reading import hero

PAGE = ROOT / "pages" / "24_claims.py"
REACH = read_claims()["windows_reach"]


def linked(claim, **more):
    return opened(PAGE, {"about": claim.part, "claim": make_title(claim.id), **more})


def verdicts_on(visit):
    """What stands over the numbers."""
    found = [re.fullmatch(r":material/\w+: \*\*(.+)\*\*", m.value) for m in visit.markdown]
    return [match[1] for match in found if match]


def test_a_link_opens_a_claim_with_its_verdict_and_what_its_check_says():
    """One claim of each verdict and one of each part; the others are like them."""
    shown = {one.verdict: one for one in read_claims().values()}
    shown |= {one.part: one for one in read_claims().values()}
    for claim in dict.fromkeys(shown.values()):
        visit = linked(claim)
        assert not visit.exception
        assert not visit.info
        assert verdicts_on(visit) == [claim.verdict.capitalize()]


def test_the_table_of_the_wall_tells_what_was_judged():
    judged = dict.fromkeys(read_claims()) | {"rows_sum_to_one": "holds"}
    cards = hero(opened(PAGE, {"predict": "true"}))["cards"]
    table = make_table(cards, judged, is_open=False)
    assert [bool(one) for one in table["Verdict"]] == [True] + [False] * (len(judged) - 1)


def test_the_verdict_waits_for_the_readers_own():
    visit = linked(REACH, predict="true")
    assert verdicts_on(visit) == []
    visit.session_state["guess_windows_reach"] = "holds"  # as a click on a card sets it
    assert verdicts_on(visit.run()) == ["Does not hold"]
    assert visit.query_params["guess_windows_reach"] == "holds"
    visit.session_state["claim"] = "order is lost"
    assert verdicts_on(visit.run()) == [], "an answer is given to one claim"
    assert hero(visit)["choices"]["guess_order_is_lost"] is None
    skipped = linked(REACH, predict="true", guess_windows_reach="just show me")
    assert verdicts_on(skipped) == ["Does not hold"]
    assert hero(skipped)["choices"]["guess_windows_reach"] == hero(skipped)["skip"]["key"]
    odd = linked(REACH, predict="true", guess_windows_reach="42")
    assert "guess_windows_reach = ` 42 `" in odd.info[0].value
    assert verdicts_on(odd) == [], "a link to no judgement says so"


def test_a_claim_opens_its_topic_also_where_an_old_link_names_another():
    visit = opened(PAGE, {"claim": "sixty nine gigabytes", "about": "caches"})
    assert verdicts_on(visit) == ["Does not hold"]
    assert hero(visit)["choices"]["about"] == "models"


def test_other_sizes_move_the_verdict_and_reset_takes_them_back():
    visit = linked(REACH, size_windows_reach_layers="3")
    assert verdicts_on(visit) == ["Holds"]
    told = "You changed the sizes. At first they were: Layers 2, Window 3"
    assert any(m.value.startswith(told) for m in visit.markdown)
    press(visit, "Reset all choices")
    assert hero(visit)["choices"]["claim"] == make_title("rows_sum_to_one")
    visit.session_state["claim"] = "windows reach"
    visit.session_state["guess_windows_reach"] = "just show me"
    assert verdicts_on(visit.run()) == ["Does not hold"]


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_odd_sizes_and_judgements_open_the_claim(value):
    sizes = [f"size_{REACH.id}_{one.name}" for one in REACH.parameters]
    visit = linked(REACH, **dict.fromkeys([*sizes, f"guess_{REACH.id}"], value))
    assert not visit.exception
    # Of a repeated value the last may be a size that there is.
    assert isinstance(value, list) or verdicts_on(visit) == ["Does not hold"]


def test_titles_are_spelled_as_readers_know_them():
    assert make_title("width_of_gpt_4") == "width of GPT-4"
    assert make_title("read_keys_and_k") == "read keys and k", "only whole words are spelled"
