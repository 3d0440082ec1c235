"""Claims: a sentence is judged, computed, and its sizes are changed."""

import re

from explainers.chapters.claims.claim_table import VERDICTS, read_claims
from explainers.chapters.claims.hero import make_table
from explainers.translations import load_sections
from explainers.ui.untrusted_text import make_title
from tests.pages.test_bad_links import VALUES
from tests.support.opening import ROOT, opened
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
        assert hero(visit)["choices"]["claim"] == make_title(claim.id)


def test_the_wall_has_a_card_for_each_claim_and_tells_what_was_judged():
    sent = hero(opened(PAGE, {"predict": "true"}))
    for card, claim in zip(sent["cards"], read_claims().values(), strict=True):
        assert card["id"] == make_title(claim.id)
        assert card["text"] == load_sections(PAGE.stem)[f"claim_{claim.id}"]
        assert VERDICTS[card["verdict"]] == claim.verdict
        assert sent["choices"][card["guess"]] is None
    assert {card["about"] for card in sent["cards"]} == set(sent["topics"])
    assert not sent["is_open"]
    assert hero(opened(PAGE))["is_open"], "without study mode"

    said = dict.fromkeys(read_claims()) | {"rows_sum_to_one": "holds"}
    table = make_table(sent["cards"], said, is_open=False)
    assert [bool(one) for one in table["Verdict"]] == [True] + [False] * (len(said) - 1)
    assert all(make_table(sent["cards"], said, is_open=True)["Verdict"])


def test_the_verdict_waits_for_the_readers_own():
    visit = linked(REACH, predict="true")
    assert verdicts_on(visit) == []
    visit.session_state["guess_windows_reach"] = "holds"  # as a click on a card sets it
    assert verdicts_on(visit.run()) == ["Does not hold"]
    assert visit.query_params["guess_windows_reach"] == "holds"
    assert hero(visit)["choices"]["guess_windows_reach"] == "holds"
    visit.session_state["claim"] = "causal cells"
    assert verdicts_on(visit.run()) == [], "an answer is given to one claim"
    assert hero(visit)["choices"]["guess_causal_cells"] is None
    skipped = linked(REACH, predict="true", guess_windows_reach="just show me")
    assert verdicts_on(skipped) == ["Does not hold"]
    assert hero(skipped)["choices"]["guess_windows_reach"] == hero(skipped)["skip"]["key"]


def test_a_claim_alone_opens_its_topic_also_where_an_old_link_names_another():
    for more in ({}, {"about": "caches"}):
        visit = opened(PAGE, {"claim": "four gigabytes", **more})
        assert verdicts_on(visit) == ["Does not hold"]
        assert hero(visit)["choices"]["about"] == "models"


def test_other_sizes_move_the_verdict_and_reset_takes_them_back():
    visit = linked(REACH, size_windows_reach_layers="3")
    assert verdicts_on(visit) == ["Holds"]
    told = "You changed the sizes. At first they were: Layers 2, Window 3"
    assert any(m.value.startswith(told) for m in visit.markdown)
    next(one for one in visit.button if one.label == "Reset all choices").click().run()
    assert hero(visit)["choices"]["claim"] == make_title("rows_sum_to_one")
    visit.session_state["claim"] = "windows reach"
    visit.session_state["guess_windows_reach"] = "just show me"
    assert verdicts_on(visit.run()) == ["Does not hold"]


def test_odd_sizes_and_judgements_open_the_claim():
    sizes = [f"size_{REACH.id}_{one.name}" for one in REACH.parameters]
    for kind, value in VALUES.items():
        visit = linked(REACH, **dict.fromkeys([*sizes, f"guess_{REACH.id}"], value))
        assert not visit.exception
        # Of a repeated value the last may be a size that there is.
        assert isinstance(value, list) or verdicts_on(visit) == ["Does not hold"], kind


def test_a_link_to_no_claim_or_judgement_says_so():
    visit = opened(PAGE, {"about": "lengths", "claim": "the moon", "size_x": "1"})
    assert "The link asks for claim = ` the moon `" in visit.info[0].value
    assert hero(visit)["choices"]["claim"] == make_title("cells_of_a_head")
    visit = linked(REACH, predict="true", guess_windows_reach="42")
    assert "guess_windows_reach = ` 42 `" in visit.info[0].value
    assert verdicts_on(visit) == []


def test_a_claim_that_no_choice_moves_says_so():
    for name, said in (("row_of_seed_42", "the verdict stays"), ("windows_reach", "may hold for")):
        assert any(said in one.value for one in linked(read_claims()[name]).markdown)
    fixed = [claim for claim in read_claims().values() if not claim.moves]
    counted = f"For {len(read_claims()) - len(fixed)} of the {len(read_claims())} sentences"
    assert any(counted in one.value for one in opened(PAGE, {"deep": "verdicts"}).markdown)


def test_a_claim_is_judged_in_the_visitors_language():
    visit = linked(REACH, lang="vi")
    assert verdicts_on(visit) == ["Không đúng"]
    assert hero(visit)["choices"]["claim"] == "windows reach"
    assert any("cần 3 tầng." in one.value for one in visit.markdown)  # said by the check itself


def test_titles_are_spelled_as_readers_know_them():
    assert make_title("a_d_k_that_saturates") == "a d_k that saturates"
    assert make_title("width_of_gpt_4") == "width of GPT-4"
    assert make_title("read_keys_and_k") == "read keys and k", "only whole words are spelled"
