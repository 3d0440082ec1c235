"""Exercises: done right and wrong, other numbers, a set, progress in the link."""

import pytest

from explainers.chapters.exercises.exercise_table import KINDS, Goal, Prediction, read_exercises
from explainers.chapters.exercises.hero import MINUTES, TOPICS, sort_cards
from explainers.chapters.exercises.one_exercise import MOST_IN_LECTURE
from explainers.ui.session import SIZE, TAKEAWAY
from explainers.ui.text.numbers import format_answer
from explainers.ui.untrusted_text import make_title
from tests.pages.test_bad_input import VALUES
from tests.support.opening import ROOT, opened
from tests.support.reading import hero, said

PAGE = ROOT / "pages" / "23_exercises.py"


def linked(name, **more):
    return opened(PAGE, {"exercise": make_title(name), **more})


def press(visit, label):
    next(one for one in visit.button if one.label == label).click().run()


def done_in(visit):
    """The cards with a tick."""
    sent = hero(visit)
    return [sent["cards"][place]["id"] for place in sent["done"]]


def names_in(visit):
    """All cards that are offered."""
    return [card["id"] for card in hero(visit)["cards"]]


def test_the_deck_has_a_card_for_each_exercise_row_by_row():
    sent = hero(opened(PAGE, {"done": "a mixture"}))
    assert sent["kind"] == "deck"
    assert {card["id"] for card in sent["cards"]} == set(map(make_title, read_exercises()))
    rows = [KINDS.index(card["kind"]) for card in sent["cards"]]
    assert rows == sorted(rows)
    for kind in KINDS:
        pages = [one.page for one in sort_cards().values() if one.kind == kind]
        assert pages == sorted(pages), "in the order of the pages"
    assert [kind["minutes"] for kind in sent["kinds"]] == [MINUTES[kind] for kind in KINDS]
    assert sent["done"] == [0]
    assert sent["choices"]["exercise"] == "a score", "the first that is not done"
    assert "{{name}}" in sent["texts"]["hero_next"]


def test_topics_are_called_as_their_pages():
    contents = (ROOT / "contents.py").read_text(encoding="utf-8")
    for page, title in TOPICS.items():
        assert f'"pages/{page}.py": N_("{title}")' in contents


def test_the_first_card_of_a_kind_is_open():
    for kind, name in [("reach", "change one key"), ("write", "softmax")]:
        visit = opened(PAGE, {"kind": kind})
        assert hero(visit)["choices"] == {"exercise": name, "kind": kind}
        assert visit.header[0].value == name.capitalize()


@pytest.mark.parametrize("name", read_exercises())
def test_a_link_opens_each_exercise(name):
    visit = linked(name, seed="3")
    assert not visit.exception
    assert not visit.info
    title = make_title(name)
    assert visit.header[0].value == title[0].upper() + title[1:]


def test_a_number_is_right_near_wrong_or_no_number():
    task = read_exercises()["a_score"].task(5)
    assert isinstance(task, Prediction)
    visit = linked("a_score", seed="5")
    answer = visit.text_input[0]
    for answer_given, reply in [
        (f"{task.answer}", "is right"),
        (f"{task.answer + 0.01:.4f}", "is close enough. Computed:"),
        (f"{task.answer + 1}", "is not it"),
        ("much", "That cannot be read as a number"),
        ("<b>inf</b>", "That cannot be read as a number"),
        ("1,2,3", "Write 0.25, 1/4, 25 %, 6,144 or 1e6."),
        (f"{task.answer:.2f}".replace(".", ","), "is right"),
    ]:
        answer.set_value(answer_given).run()
        assert reply in said(visit)
        assert not visit.exception


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_odd_links_and_answers_open_an_exercise(value):
    visit = linked("a_mask_for_one_pair", size_a_mask_for_one_pair_rule=value, seed=value)
    assert not visit.exception
    visit = linked("a_score", done=value, only=value, kind=value)
    assert not visit.exception
    for field in visit.text_input:
        field.set_value(value if isinstance(value, str) else "2^99").run()
        assert not visit.exception


def test_what_was_done_is_counted_once_and_can_be_taken_off():
    task = read_exercises()["cells_of_a_causal_mask"].task(0)
    assert isinstance(task, Prediction)
    visit = linked("cells_of_a_causal_mask", done="a score", deep="done")
    visit.text_input[0].set_value(f"{task.answer}").run()
    done = visit.button_group("done")
    assert done.value == ["a score", "cells of a causal mask"]
    assert visit.query_params["done"] == done.value
    assert done_in(visit) == done.value
    assert "You have done 2." in said(visit)
    done.set_value(["a score"]).run()
    assert "You have done 1." in said(visit)
    assert done_in(visit) == ["a score"]
    assert "is right" in said(visit)


def test_what_was_done_is_kept_while_its_card_is_closed():
    task = read_exercises()["a_mixture"].task(0)
    assert isinstance(task, Prediction)
    visit = opened(PAGE, {"done": ["a score", "the moon"]})
    assert any("done" in note.value for note in visit.info)
    visit.text_input[0].set_value(f"{task.answer}").run()
    assert done_in(visit) == ["a mixture", "a score"]
    assert visit.query_params["done"] == ["a mixture", "a score"]
    press(visit, "Next exercise")
    assert done_in(visit) == ["a mixture", "a score"]
    assert visit.header[0].value == "A weight of two"


@pytest.mark.parametrize("name", [e.id for e in read_exercises().values() if e.kind == "reach"])
def test_a_goal_is_reached_by_a_link_with_a_solution(name):
    task = read_exercises()[name].task(2)
    assert isinstance(task, Goal)
    assert "Not reached yet" in said(linked(name, seed="2"))
    turned = {f"{SIZE}{name}_{key}": f"{value}" for key, value in next(task.solutions()).items()}
    visit = linked(name, seed="2", **turned)
    assert "**Reached.**" in said(visit)
    assert done_in(visit) == [make_title(name)]


def test_other_numbers_are_the_next_seeds():
    visit = linked("a_score", seed="99")
    before = said(visit)
    press(visit, "Other numbers")
    assert visit.session_state["seed"] == 0
    assert said(visit) != before


def test_the_next_exercise_is_the_first_of_the_kind_that_is_not_done():
    task = read_exercises()["a_score"].task(0)
    assert isinstance(task, Prediction)
    visit = linked("a_score", kind="predict", done="a weight of two")
    assert "Next exercise" not in [button.label for button in visit.button]
    visit.text_input[0].set_value(f"{task.answer}").run()
    press(visit, "Next exercise")
    assert visit.header[0].value == "Variance of products"
    assert visit.query_params["exercise"] == "variance of products"


def test_after_the_last_of_a_kind_comes_another_kind():
    functions = [name for name, one in sort_cards().items() if one.kind == "write"]
    visit = linked(functions[-1], kind="write", done=functions)
    press(visit, "Next exercise")
    assert hero(visit)["choices"] == {"exercise": "a mixture", "kind": "all"}


def test_who_has_done_all_is_offered_no_next():
    visit = linked("a_score", done=list(sort_cards()))
    assert "Next exercise" not in [button.label for button in visit.button]
    assert len(done_in(visit)) == len(sort_cards())


def test_other_numbers_close_the_solution():
    visit = linked("a_score", seed="5")
    before = {expander.proto.id for expander in visit.expander}
    press(visit, "Other numbers")
    after = {expander.proto.id for expander in visit.expander}
    assert len(before - after) == 1, "what was open stays open where the id stays"


def test_what_was_written_is_counted_by_the_learner():
    visit = linked("share", lang="vi")
    assert "share" not in visit.query_params.get("done", [])
    press(visit, "Bài của tôi đạt: tính là xong")
    assert visit.query_params["done"] == "share"
    press(visit, "Bài tiếp theo")
    assert hero(visit)["choices"]["exercise"] != "share"
    assert visit.query_params["done"] == "share"


def test_a_lecturers_set_is_all_there_is():
    visit = opened(PAGE, {"only": ["share", "a mixture"], "kind": "predict", "done": "a score"})
    assert names_in(visit) == ["a mixture", "share"]
    assert visit.header[0].value == "A mixture"
    assert "chose 2 exercises for you" in said(visit)
    assert not done_in(visit)
    assert visit.query_params["done"] == "a score", "it is done all the same"
    visit = opened(PAGE, {"only": ["share", "a mixture"], "kind": "reach"})
    assert visit.header[0].value == "A mixture", "the set has none of these"


def test_a_lecturer_chooses_a_set_and_copies_its_link():
    visit = opened(PAGE, {"deep": "lecturers", "seed": "7"})
    visit.button_group("only").set_value(["a score", "share"]).run()
    assert names_in(visit) == ["a score", "share"]
    link = visit.code[0].value
    assert "only=a%20score&only=share&seed=7" in link
    visit.button_group("only").set_value([]).run()
    assert len(names_in(visit)) == len(sort_cards())


def test_a_class_is_shown_the_exercises_of_a_set_one_after_the_other():
    some = ["a mixture", "a score", "change one key", "softmax", "share"]
    visit = opened(PAGE, {"only": some, "lecture": "true"})
    assert not visit.exception
    titles = dict.fromkeys(one.value for one in visit.header)  # of a task, and of what comes out
    assert [*titles] == [name.capitalize() for name in some]
    task = read_exercises()["a_score"].task(0)
    assert isinstance(task, Prediction)
    assert f"**{format_answer(task.answer)}**" in said(visit)
    assert not visit.text_input


def test_without_a_set_a_class_is_shown_some_exercises():
    visit = linked("a_score", lecture="true", kind="predict")
    titles = dict.fromkeys(one.value for one in visit.header)
    assert [*titles][:2] == ["A score", "A weight of two"]
    assert len(titles) == MOST_IN_LECTURE


def test_a_card_that_is_done_offers_the_next():
    visit = linked("a_score", done="a score")
    press(visit, "Next exercise")
    assert visit.header[0].value == "A weight of two"


def test_the_link_of_the_files_has_all_that_was_done():
    visit = linked("a_score", done=["a score", "a mixture"])
    assert visit.session_state[TAKEAWAY].link.endswith("done=a%20mixture&done=a%20score")


def test_a_link_to_no_exercise_says_so():
    visit = linked("the_moon", only="the sun", kind="dance")
    assert not visit.exception
    assert len(visit.info) == 3
    assert visit.header[0].value == "A mixture"


def test_a_hole_is_shown_and_nothing_runs_here():
    visit = linked("share")
    assert "raise NotImplementedError" in visit.code[0].value
    assert not visit.text_input


def test_answers_are_printed_as_precisely_as_they_are_accepted():
    assert [format_answer(n) for n in (16384.0, 0.12345, -2.5)] == ["16,384", "0.1235", "−2.5"]


def test_a_function_keeps_its_name_and_its_link_in_every_language():
    """The word "share" stands in the catalogue, for something else."""
    visit = opened(PAGE, {"exercise": "share", "lang": "vi"})
    assert [one.value for one in visit.header][:1] == ["Share"]
    assert not visit.info
