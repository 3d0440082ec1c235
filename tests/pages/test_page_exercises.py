"""Exercises: done right and wrong, other numbers, a set, progress in the link."""

import pytest

from explainers.chapters.exercises.exercise_table import Goal, Prediction, read_exercises
from explainers.ui.session import SIZE
from explainers.ui.text.numbers import format_answer, parse_number
from explainers.ui.untrusted_text import make_title
from tests.support.opening import ROOT, opened
from tests.support.reading import said

PAGE = ROOT / "pages" / "16_exercises.py"


def linked(name, **more):
    return opened(PAGE, {"exercise": make_title(name), **more})


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
        (f"{task.answer + 0.01:.4f}", "is near enough; computed:"),
        (f"{task.answer + 1}", "is not it"),
        ("much", "That is not a number"),
        ("<b>inf</b>", "That is not a number"),
        ("1,2,3", "with a point for decimals"),
    ]:
        answer.set_value(answer_given).run()
        assert reply in said(visit)
        assert not visit.exception


def test_what_was_done_is_counted_once_and_can_be_taken_off():
    task = read_exercises()["cells_of_a_causal_mask"].task(0)
    assert isinstance(task, Prediction)
    visit = linked("cells_of_a_causal_mask", done="a score")
    visit.text_input[0].set_value(f"{task.answer}").run()
    done = visit.button_group("done")
    assert done.value == ["a score", "cells of a causal mask"]
    assert "2 of 34 done" in said(visit)
    done.set_value(["a score"]).run()
    assert "1 of 34 done" in said(visit)


@pytest.mark.parametrize("name", [e.id for e in read_exercises().values() if e.kind == "reach"])
def test_a_goal_is_reached_by_a_link_with_a_solution(name):
    task = read_exercises()[name].task(2)
    assert isinstance(task, Goal)
    assert "Not reached yet" in said(linked(name, seed="2"))
    turned = {f"{SIZE}{name}_{key}": f"{value}" for key, value in next(task.solutions()).items()}
    visit = linked(name, seed="2", **turned)
    assert "**Reached.**" in said(visit)
    assert visit.button_group("done").value == [make_title(name)]


def test_other_numbers_are_the_next_seeds():
    visit = linked("a_score", seed="99")
    before = said(visit)
    next(button for button in visit.button if button.label == "Other numbers").click().run()
    assert visit.session_state["seed"] == 0
    assert said(visit) != before


def test_the_next_exercise_is_the_first_of_the_kind_that_is_not_done():
    task = read_exercises()["a_score"].task(0)
    assert isinstance(task, Prediction)
    visit = linked("a_score", kind="predict", done="a weight of two")
    assert "Next exercise" not in [button.label for button in visit.button]
    visit.text_input[0].set_value(f"{task.answer}").run()
    next(button for button in visit.button if button.label == "Next exercise").click().run()
    assert visit.header[0].value == "A mixture"
    assert visit.query_params["exercise"] == "a mixture"


def test_other_numbers_close_the_solution():
    visit = linked("a_score", seed="5")
    before = {expander.proto.id for expander in visit.expander}
    next(button for button in visit.button if button.label == "Other numbers").click().run()
    after = {expander.proto.id for expander in visit.expander}
    assert len(before - after) == 1, "what was open stays open where the id stays"


def test_what_was_written_is_counted_by_the_learner():
    visit = linked("share", lang="vi")
    assert "share" not in visit.query_params.get("done", [])
    next(one for one in visit.button if one.label == "Bài của tôi đạt: tính là xong").click().run()
    assert visit.query_params["done"] == "share"
    next(one for one in visit.button if one.label == "Bài tiếp theo").click().run()
    assert visit.query_params["exercise"] != "share"
    assert visit.query_params["done"] == "share"


def test_a_lecturers_set_is_all_there_is():
    visit = opened(PAGE, {"only": ["share", "a mixture"], "kind": "predict", "done": "a score"})
    assert visit.selectbox("exercise").options == ["a mixture"]
    visit.button_group("kind").set_value("reach").run()
    assert visit.selectbox("exercise").options == ["a mixture", "share"], (
        "the set has none of these"
    )
    assert "chose 2 exercises for you" in said(visit)
    assert "0 of 2 done" in said(visit)


def test_a_link_to_no_exercise_says_so():
    visit = linked("the_moon", only="the sun", kind="dance")
    assert not visit.exception
    assert len(visit.info) == 3
    assert visit.header[0].value == "A score"


def test_a_hole_is_shown_and_nothing_runs_here():
    visit = linked("share")
    assert "raise NotImplementedError" in visit.code[0].value
    assert not visit.text_input


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("0.25", 0.25),
        ("1,024", 1024),
        ("0,25", 0.25),
        ("0,250", 0.25),
        ("−3", -3),
        ("1e6", 1e6),
        (" 7 ", 7),
    ],
)
def test_numbers_as_people_write_them(said, read):
    assert parse_number(said) == read


@pytest.mark.parametrize(
    "said", ["", "nan", "inf", "1/2", "1,02,3", "1,,2", "１２３４" * 9, "9" * 400]
)
def test_what_is_no_number(said):
    assert parse_number(said) is None or abs(parse_number(said) or 0) < 1e40


def test_answers_are_printed_as_precisely_as_they_are_accepted():
    assert [format_answer(n) for n in (16384.0, 0.12345, -2.5)] == ["16,384", "0.1235", "−2.5"]


def test_a_function_keeps_its_name_and_its_link_in_every_language():
    """The word "share" stands in the catalogue, for something else."""
    visit = opened(PAGE, {"exercise": "share", "lang": "vi"})
    assert [one.value for one in visit.header][:1] == ["Share"]
    assert not visit.info
