"""Exercises: done right and wrong, other numbers, a set, progress in the link."""

from explainers.chapters.exercises.deck import Goal, read_exercises, sort_cards
from explainers.ui.session import SIZE, TAKEAWAY
from explainers.ui.text.numbers import format_answer
from explainers.ui.untrusted_text import make_title
from tests.support.exercises import ask
from tests.support.opening import ROOT, opened, press
from tests.support.reading import hero, said
from tests.support.tiers import take_turns

PAGE = ROOT / "pages" / "23_exercises.py"


def linked(name, **more):
    return opened(PAGE, {"exercise": make_title(name), **more})


def done_in(visit):
    """The cards with a tick."""
    sent = hero(visit)
    return [sent["cards"][place]["id"] for place in sent["done"]]


def names_in(visit):
    """All cards that are offered."""
    return [card["id"] for card in hero(visit)["cards"]]


def test_a_link_opens_an_exercise():
    for name in take_turns([*read_exercises()], 8):
        visit = linked(name, seed="3")
        assert not visit.exception
        assert not visit.info
        title = make_title(name)
        assert visit.header[0].value == title[0].upper() + title[1:]


def test_a_number_is_right_near_wrong_or_no_number():
    task = ask("a_score", 5)
    visit = linked("a_score", seed="5")
    for answer_given, reply in [
        (f"{task.answer}", "is right"),
        (f"{task.answer + 0.01:.4f}", "is close enough. Computed:"),
        (f"{task.answer + 1}", "is not it"),
        ("<b>inf</b>", "That cannot be read as a number"),
    ]:
        visit.text_input[0].set_value(answer_given).run()
        assert reply in said(visit)


def test_what_was_done_is_counted_once_and_kept():
    closed = opened(PAGE, {"done": "a score"})
    closed.text_input[0].set_value(f"{ask('a_mixture', 0).answer}").run()
    press(closed, "Next exercise")
    assert done_in(closed) == ["a mixture", "a score"]
    assert closed.session_state[TAKEAWAY].link.endswith("done=a%20mixture&done=a%20score")


def test_a_reset_takes_back_what_was_typed_and_counts_it_anew():
    visit, right = opened(PAGE), f"{ask('a_mixture', 0).answer}"
    for _time in range(2):
        visit.text_input[0].set_value(right).run()
        assert done_in(visit) == ["a mixture"]
        press(visit, "Reset all choices")
        assert not visit.text_input[0].value
        assert done_in(visit) == []
        assert "is right" not in said(visit)


def test_a_goal_is_reached_by_a_link_with_a_solution():
    for name in take_turns([e.id for e in read_exercises().values() if e.kind == "reach"], 3):
        goal = read_exercises()[name].task(2)
        assert isinstance(goal, Goal)
        solution = next(goal.solutions())
        assert "Not reached yet" in said(linked(name, seed="2"))
        turned = {f"{SIZE}{name}_{key}": f"{value}" for key, value in solution.items()}
        visit = linked(name, seed="2", **turned)
        assert "**Reached.**" in said(visit)
        assert done_in(visit) == [make_title(name)]


def test_other_numbers_are_the_next_seeds_and_close_the_solution():
    visit = linked("a_score", seed="99")
    before, boxes = said(visit), {expander.proto.id for expander in visit.expander}
    press(visit, "Other numbers")
    assert visit.session_state["seed"] == 0
    assert said(visit) != before
    after = {expander.proto.id for expander in visit.expander}
    assert len(boxes - after) == 1, "what was open stays open where the id stays"


def test_the_next_exercise_is_the_first_of_the_kind_that_is_not_done():
    visit = linked("a_score", kind="predict", done="a weight of two")
    assert "Next exercise" not in [button.label for button in visit.button]
    visit.text_input[0].set_value(f"{ask('a_score', 0).answer}").run()
    press(visit, "Next exercise")
    assert visit.query_params["exercise"] == "cells of a causal mask"
    functions = [name for name, one in sort_cards().items() if one.kind == "write"]
    last = linked(functions[-1], kind="write", done=functions)
    press(last, "Next exercise")
    assert hero(last)["choices"] == {"exercise": "a mixture", "kind": "all"}
    everything = linked("a_score", done=list(sort_cards()))
    assert "Next exercise" not in [button.label for button in everything.button]


def test_what_was_written_is_counted_by_the_learner():
    """Nothing runs here. The function "share" is called so in every language."""
    visit = linked("share", lang="vi")
    assert visit.header[0].value == "Share"
    assert not visit.text_input
    assert "share" not in visit.query_params.get("done", [])
    press(visit, "Bài của tôi đạt: tính là xong")
    assert visit.query_params["done"] == "share"
    press(visit, "Bài tiếp theo")
    assert hero(visit)["choices"]["exercise"] != "share"


def test_a_lecturer_chooses_a_set_which_is_all_that_a_class_gets():
    visit = opened(PAGE, {"deep": "lecturers", "seed": "7"})
    visit.button_group("only").set_value(["a mixture", "share"]).run()
    assert names_in(visit) == ["a mixture", "share"]
    assert "only=a%20mixture&only=share&seed=7" in visit.code[0].value
    visit.button_group("only").set_value([]).run()
    assert len(names_in(visit)) == len(sort_cards())
    link: dict[str, str | list[str]] = {"only": ["share", "a mixture"], "done": "a score"}
    given = opened(PAGE, link | {"kind": "reach"})  # the set has none of this kind
    assert names_in(given) == ["a mixture", "share"]
    assert given.header[0].value == "A mixture"
    assert not done_in(given)
    assert given.query_params["done"] == "a score", "it is done all the same"


def test_a_class_is_shown_some_exercises_one_after_the_other():
    some = ["a mixture", "a score", "change one key", "softmax", "share"]
    visit = opened(PAGE, {"only": some, "lecture": "true"})
    titles = dict.fromkeys(one.value for one in visit.header)  # of a task, and of what comes out
    assert [*titles] == [name.capitalize() for name in some]
    assert f"**{format_answer(ask('a_score', 0).answer)}**" in said(visit)
    assert not visit.text_input
