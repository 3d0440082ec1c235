"""Claims: a sentence is judged, computed, and its sizes are changed."""

import pytest

from explainers.chapters.claims.claim_table import read_claims
from explainers.translations import load_sections
from explainers.ui.untrusted_text import make_title
from tests.support.opening import ROOT, opened

PAGE = ROOT / "pages" / "17_claims.py"
EACH = pytest.mark.parametrize("claim", read_claims().values(), ids=lambda claim: claim.id)


def linked(claim, **more):
    return opened(PAGE, {"about": claim.part, "claim": make_title(claim.id), **more})


def verdict_of(visit):
    """The heading under which the numbers stand."""
    return [m.value.partition(": ")[2] for m in visit.markdown if m.value.startswith("### :")]


@EACH
def test_a_link_opens_each_claim_with_its_verdict(claim):
    visit = linked(claim)
    assert not visit.exception
    assert not visit.info
    assert verdict_of(visit) == [claim.verdict.capitalize()]
    assert load_sections(PAGE.stem)[f"claim_{claim.id}"] in [m.value for m in visit.markdown]


def test_the_verdict_waits_for_the_readers_own():
    claim = read_claims()["windows_reach"]
    visit = linked(claim, predict="true")
    assert verdict_of(visit) == []
    visit.radio("guess_windows_reach").set_value("holds").run()
    assert verdict_of(visit) == ["Does not hold"]
    assert any("You chose **holds**." in m.value for m in visit.markdown)


def test_other_sizes_move_the_verdict_and_the_page_says_what_the_sentence_spoke_of():
    claim = read_claims()["windows_reach"]
    visit = linked(claim, size_windows_reach_layers="3")
    assert verdict_of(visit) == ["Holds"]
    said = "You changed the sizes. At first they were: Layers 2, Window 3"
    assert any(m.value.startswith(said) for m in visit.markdown)


def test_an_answer_is_given_to_one_claim_only():
    visit = linked(read_claims()["windows_reach"], predict="true", guess_windows_reach="holds")
    visit.radio("claim").set_value("causal cells").run()
    assert visit.radio("guess_causal_cells").value is None
    assert verdict_of(visit) == []


def test_a_link_to_no_claim_says_so_and_shows_the_first():
    visit = opened(PAGE, {"about": "lengths", "claim": "the moon", "size_x": "1"})
    assert not visit.exception
    assert "The link asks for claim = ` the moon `" in visit.info[0].value
    assert visit.radio("claim").value == make_title("cells_of_a_head")


def test_reset_takes_back_the_sizes():
    visit = linked(read_claims()["windows_reach"], size_windows_reach_layers="3")
    next(one for one in visit.button if one.label == "Reset all choices").click().run()
    visit.button_group("about").set_value("positions").run()
    visit.radio("claim").set_value("windows reach").run()
    visit.button("show guess_windows_reach").click().run()
    assert verdict_of(visit) == ["Does not hold"]


def test_a_claim_is_judged_in_the_visitors_language_and_linked_in_english():
    visit = linked(read_claims()["windows_reach"], lang="vi", predict="false")
    assert not visit.exception
    assert verdict_of(visit) == ["Không đúng"]
    assert visit.radio("claim").value == "windows reach"
    assert any("cần 3 tầng." in one.value for one in visit.markdown)  # said by the check itself


def test_titles_are_spelled_as_readers_know_them():
    assert make_title("a_d_k_that_saturates") == "a d_k that saturates"
    assert make_title("width_of_gpt_4") == "width of GPT-4"
    assert make_title("read_keys_and_k") == "read keys and k", "only whole words are spelled"
