"""Claims: a sentence is judged, computed, and its sizes are changed."""

import re

import pytest

from explainers.chapters.claims.claim_table import VERDICTS, read_claims
from explainers.chapters.claims.hero import make_table
from explainers.translations import load_sections
from explainers.ui.untrusted_text import make_title
from tests.pages.test_bad_input import VALUES
from tests.support.opening import ROOT, opened
from tests.support.reading import hero

PAGE = ROOT / "pages" / "24_claims.py"
EACH = pytest.mark.parametrize("claim", read_claims().values(), ids=lambda claim: claim.id)


def linked(claim, **more):
    return opened(PAGE, {"about": claim.part, "claim": make_title(claim.id), **more})


def verdict_of(visit):
    """What stands over the numbers."""
    found = [re.fullmatch(r":material/\w+: \*\*(.+)\*\*", m.value) for m in visit.markdown]
    return [match[1] for match in found if match]


def wall(visit):
    """What is sent for the cards."""
    return hero(visit)


def judged(visit, claim, verdict):
    """The page after a click on a card, as the picture tells it."""
    visit.session_state[f"guess_{claim.id}"] = verdict
    return visit.run()


@EACH
def test_a_link_opens_each_claim_with_its_verdict(claim):
    visit = linked(claim)
    assert not visit.exception
    assert not visit.info
    assert verdict_of(visit) == [claim.verdict.capitalize()]
    sent = wall(visit)
    assert sent["choices"]["claim"] == make_title(claim.id)
    card = next(card for card in sent["cards"] if card["id"] == make_title(claim.id))
    assert card["text"] == load_sections(PAGE.stem)[f"claim_{claim.id}"]
    assert VERDICTS[card["verdict"]] == claim.verdict


def test_the_wall_has_all_cards_and_none_is_judged():
    sent = wall(opened(PAGE, {"predict": "true"}))
    assert sent["kind"] == "claims_wall"
    assert [card["id"] for card in sent["cards"]] == [make_title(name) for name in read_claims()]
    assert {card["about"] for card in sent["cards"]} == set(sent["topics"])
    guesses = {card["guess"]: sent["choices"][card["guess"]] for card in sent["cards"]}
    assert set(guesses.values()) == {None}
    assert not sent["is_open"]
    assert list(sent["verdicts"]) == list(VERDICTS)


def test_the_verdict_waits_for_the_readers_own():
    claim = read_claims()["windows_reach"]
    visit = linked(claim, predict="true")
    assert verdict_of(visit) == []
    visit = judged(visit, claim, "holds")
    assert verdict_of(visit) == ["Does not hold"]
    assert wall(visit)["choices"]["guess_windows_reach"] == "holds"
    assert visit.query_params["guess_windows_reach"] == "holds"


def test_the_table_tells_no_verdict_before_it_was_judged():
    cards = wall(opened(PAGE, {"predict": "true"}))["cards"]
    said = dict.fromkeys(read_claims())
    said["rows_sum_to_one"] = "holds"
    table = make_table(cards, said, is_open=False)
    assert [bool(verdict) for verdict in table["Verdict"]] == [True] + [False] * (len(cards) - 1)
    assert all(make_table(cards, said, is_open=True)["Verdict"])


def test_without_study_mode_all_stamps_are_seen():
    assert wall(opened(PAGE))["is_open"]


def test_a_claim_alone_opens_its_topic():
    visit = opened(PAGE, {"claim": "four gigabytes"})
    assert not visit.info
    assert wall(visit)["choices"]["about"] == "models"
    old = opened(PAGE, {"about": "caches", "claim": "four gigabytes"})
    assert verdict_of(old) == ["Does not hold"]
    assert wall(old)["choices"]["about"] == "models"


def test_other_sizes_move_the_verdict_and_the_page_says_what_the_sentence_spoke_of():
    claim = read_claims()["windows_reach"]
    visit = linked(claim, size_windows_reach_layers="3")
    assert verdict_of(visit) == ["Holds"]
    said = "You changed the sizes. At first they were: Layers 2, Window 3"
    assert any(m.value.startswith(said) for m in visit.markdown)


def test_an_answer_is_given_to_one_claim_only():
    visit = linked(read_claims()["windows_reach"], predict="true", guess_windows_reach="holds")
    assert verdict_of(visit) == ["Does not hold"]
    visit.session_state["claim"] = "causal cells"
    visit.run()
    assert wall(visit)["choices"]["guess_causal_cells"] is None
    assert verdict_of(visit) == []


def test_a_link_to_no_claim_says_so_and_shows_the_first():
    visit = opened(PAGE, {"about": "lengths", "claim": "the moon", "size_x": "1"})
    assert not visit.exception
    assert "The link asks for claim = ` the moon `" in visit.info[0].value
    assert wall(visit)["choices"]["claim"] == make_title("cells_of_a_head")


def test_an_absurd_answer_in_a_link_is_told():
    visit = linked(read_claims()["windows_reach"], predict="true", guess_windows_reach="42")
    assert "guess_windows_reach = ` 42 `" in visit.info[0].value
    assert verdict_of(visit) == []


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_odd_sizes_and_judgements_open_the_claim(value):
    claim = read_claims()["windows_reach"]
    sizes = {f"size_{claim.id}_{one.name}": value for one in claim.parameters}
    visit = linked(claim, **sizes, **{f"guess_{claim.id}": value})
    assert not visit.exception
    # Of a repeated value the last may be a size that there is.
    assert isinstance(value, list) or verdict_of(visit) == ["Does not hold"]


def test_a_claim_that_no_choice_moves_says_so():
    for name, said in (("row_of_seed_42", "the verdict stays"), ("windows_reach", "may hold for")):
        visit = linked(read_claims()[name])
        assert any(said in one.value for one in visit.markdown)
    counted = "For 74 of the 77 sentences another choice gives another verdict. The other 3 print"
    shown = opened(PAGE, {"deep": "verdicts"})
    assert any(counted in one.value for one in shown.markdown)


def test_a_look_without_a_guess_is_no_judgement():
    claim = read_claims()["windows_reach"]
    visit = linked(claim, predict="true", guess_windows_reach="just show me")
    assert verdict_of(visit) == ["Does not hold"]
    assert wall(visit)["choices"]["guess_windows_reach"] == wall(visit)["skip"]["key"]


def test_reset_takes_back_the_sizes():
    visit = linked(read_claims()["windows_reach"], size_windows_reach_layers="3")
    next(one for one in visit.button if one.label == "Reset all choices").click().run()
    assert wall(visit)["choices"]["claim"] == make_title("rows_sum_to_one")
    visit.session_state["claim"] = "windows reach"
    judged(visit, read_claims()["windows_reach"], "just show me")
    assert verdict_of(visit) == ["Does not hold"]


def test_a_claim_is_judged_in_the_visitors_language_and_linked_in_english():
    visit = linked(read_claims()["windows_reach"], lang="vi", predict="false")
    assert not visit.exception
    assert verdict_of(visit) == ["Không đúng"]
    assert wall(visit)["choices"]["claim"] == "windows reach"
    assert any("cần 3 tầng." in one.value for one in visit.markdown)  # said by the check itself


def test_titles_are_spelled_as_readers_know_them():
    assert make_title("a_d_k_that_saturates") == "a d_k that saturates"
    assert make_title("width_of_gpt_4") == "width of GPT-4"
    assert make_title("read_keys_and_k") == "read keys and k", "only whole words are spelled"
