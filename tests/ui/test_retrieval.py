"""A question that is asked again two pages later, and the tally on the last page."""

from dataclasses import replace

import pytest

from explainers.chapters.cross_attention.cards import recall_mask
from explainers.chapters.head_gallery.cards import recall_baseline, recall_prose
from explainers.chapters.inspector.cards import recall_sink
from explainers.chapters.inspector.sentence_run import recall_difference
from explainers.chapters.query_key_value import recall_query_numbers
from explainers.ui.page_parts.check_yourself import (
    MarkedRecall,
    Recall,
    choose_question,
    draw_again,
    seed_recall,
)
from explainers.ui.session import RECALLS_MARKED
from tests.support.opening import PAGES, ROOT, elements, opened, settled
from tests.support.reading import said

FROM = ROOT / "pages" / "03_query_key_value.py"
THEN, LAST = "pages/05_masks.py", "pages/24_claims.py"
STUDY, GUESS, AGAIN = {"predict": "true"}, "guess_directions", "again"
REPEATED = "Do you still know it?"


def answer(visit, name, value, time="0"):
    key = f"recall {FROM.stem} {name} {time}"
    [field] = [one for one in elements(visit.main) if getattr(one, "key", None) == key]
    visit = field.set_value(value).run()
    assert not visit.exception
    return visit


def go(visit, path):
    visit = settled(visit.switch_page(path).run())
    assert not visit.exception
    return visit


def find_again(visit, name):
    return visit.session_state[RECALLS_MARKED]["03"][name].again


def link_labels(visit):
    return [one.proto.label for one in elements(visit.main) if one.type == "page_link"]


def test_a_missed_question_returns_two_pages_later_with_other_numbers():
    visit = answer(answer(opened(FROM), "shape", "1"), "growing", "W_V")
    assert REPEATED not in said(go(visit, "pages/04_scores.py"))
    assert REPEATED not in said(go(opened(FROM), THEN)), "who was asked nothing"
    visit = go(visit, THEN)
    assert REPEATED in said(visit)
    first, again = (
        recall_query_numbers(seed_recall(FROM.stem, "shape", 0)),
        find_again(visit, "shape"),
    )
    assert again.given != first.given
    assert again.answer != first.answer
    assert all(number in said(visit).partition(REPEATED)[2] for number in again.given.values())
    assert link_labels(visit) == ["From Queries, keys, values"]
    visit = answer(visit, "shape", f"{again.answer:.0f}", AGAIN)
    assert f"Right: **{again.answer:,.0f}**." in said(visit).partition(REPEATED)[2]
    assert visit.query_params["pages_done"] == "03"


def test_the_missed_question_returns_before_one_with_other_numbers():
    other, same = (MarkedRecall(True, Recall("yes"), is_other) for is_other in (True, False))
    missed, missed_same = (replace(one, is_right=False) for one in (other, same))
    assert choose_question({"a": other, "b": missed}) == "b"
    assert choose_question({"a": same, "b": other}) == "b"
    assert choose_question({"a": missed_same, "b": other}) == "a"
    assert choose_question({"a": other, "b": other}) == "a"


@pytest.mark.parametrize(
    "make", [recall_mask, recall_difference, recall_baseline, recall_prose, recall_sink]
)
def test_no_question_about_two_texts_or_real_models_returns_as_it_was(make):
    now, later = make(seed_recall("page", "name", 0)), draw_again("page", "name", make, False)
    assert later.has_other_numbers
    assert later.again.given != now.given
    for one in (now, later.again):
        assert not one.options or one.answer in one.options


@pytest.mark.parametrize("mode", ["lecture", "tour"])
def test_nothing_returns_in_a_lecture_or_in_the_tour(mode):
    visit = opened(FROM, STUDY)
    visit.radio(GUESS).set_value(find_guesses(visit)[0]).run()
    visit = answer(visit, "shape", "1")
    assert REPEATED in said(go(visit, THEN))
    assert "You predicted" in said(go(visit, LAST))
    if mode == "tour":
        visit.session_state[mode] = True
    else:
        visit.toggle(mode).set_value(True).run()
    assert REPEATED not in said(go(visit, THEN))
    assert "You predicted" not in said(go(visit, LAST))


def test_the_tally_counts_first_guesses_and_what_is_known_now():
    visit = opened(FROM, STUDY)
    wrong, right = find_guesses(visit)
    visit.radio(GUESS).set_value(wrong).run()
    visit.radio(GUESS).set_value(right).run()  # too late: the answer is in sight
    visit = answer(answer(visit, "shape", "1"), "growing", "W_V")
    visit = go(visit, "pages/04_scores.py")
    visit.button("show guess_root").click().run()
    visit = go(visit, THEN)
    told = said(go(visit, LAST))
    assert "You predicted 0 of 1 right." in told
    assert "you now get 1 of 2 questions at the end right" in told
    visit = go(visit, THEN)
    visit = answer(visit, "shape", f"{find_again(visit, 'shape').answer:.0f}", AGAIN)
    assert "you now get 2 of 2 questions at the end right" in said(go(visit, LAST))


def find_guesses(visit):
    """A wrong answer and the right one to the prediction of the page."""
    options = visit.radio(GUESS).options
    probe = opened(FROM, STUDY | {GUESS: "just show me"})
    right = next(one for one in options if f"Answer: **{one}**" in said(probe))
    return next(one for one in options if one != right), right


def test_a_guess_in_somebody_elses_link_is_no_prediction():
    _wrong, right = find_guesses(opened(FROM, STUDY))
    visit = opened(FROM, STUDY | {GUESS: right})
    assert f"Right: **{right}**" in said(visit)
    assert "You predicted" not in said(go(visit, LAST))


def test_the_last_page_leads_to_the_first_that_is_not_done():
    visit = opened(ROOT / LAST, {"pages_done": "01.02.04"})
    assert "Not done yet: Queries, keys, values" in link_labels(visit)
    all_but_the_last = ".".join(f"{number:02d}" for number in range(1, len(PAGES)))
    visit = opened(ROOT / LAST, {"pages_done": all_but_the_last})
    assert not any("Not done" in label for label in link_labels(visit))


def test_a_guess_at_a_veil_counts():
    page, link = ROOT / "pages" / "08_kv_cache.py", STUDY | {"deep": "broken"}
    keys = [one.key or "" for one in opened(page, link).main.button]
    guesses = [key for key in keys if key.startswith("guess_broken: ")]
    told = [said(go(opened(page, link).button(key).click().run(), LAST)) for key in guesses]
    assert sum("You predicted 1 of 1 right." in one for one in told) == 1
    assert sum("You predicted 0 of 1 right." in one for one in told) == len(guesses) - 1 > 0
    assert not any("where your prediction was wrong" in one for one in told)
