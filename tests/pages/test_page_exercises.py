"""Exercises: done right and wrong, other numbers, a set, progress in the link."""

from explainers.chapters.exercises.exercise_table import KINDS, read_exercises
from explainers.chapters.exercises.hero import MINUTES, TOPICS, sort_cards
from explainers.chapters.exercises.one_exercise import MOST_IN_LECTURE
from explainers.ui.session import SIZE, TAKEAWAY
from explainers.ui.text.numbers import format_answer
from explainers.ui.untrusted_text import make_title
from tests.pages.test_bad_links import VALUES
from tests.support.exercises import aim, ask
from tests.support.opening import ROOT, opened
from tests.support.reading import hero, said
from tests.support.tiers import take_turns

PAGE = ROOT / "pages" / "23_exercises.py"


def linked(name, **more):
    return opened(PAGE, {"exercise": make_title(name), **more})


def press(visit, label):
    next(one for one in visit.button if one.label == label).click().run()


def labels(visit):
    return [button.label for button in visit.button]


def done_in(visit):
    """The cards with a tick."""
    sent = hero(visit)
    return [sent["cards"][place]["id"] for place in sent["done"]]


def names_in(visit):
    """All cards that are offered."""
    return [card["id"] for card in hero(visit)["cards"]]


def test_the_deck_has_a_card_for_each_exercise_row_by_row():
    sent = hero(opened(PAGE, {"done": "a mixture"}))
    assert {card["id"] for card in sent["cards"]} == set(map(make_title, read_exercises()))
    rows = [KINDS.index(card["kind"]) for card in sent["cards"]]
    assert rows == sorted(rows)
    for kind in KINDS:
        pages = [one.page for one in sort_cards().values() if one.kind == kind]
        assert pages == sorted(pages), "in the order of the pages"
    assert [kind["minutes"] for kind in sent["kinds"]] == [MINUTES[kind] for kind in KINDS]
    assert sent["done"] == [0]
    assert sent["choices"]["exercise"] == "a score", "the first that is not done"
    contents = (ROOT / "contents.py").read_text(encoding="utf-8")
    for page, title in TOPICS.items():
        assert f'"pages/{page}.py": N_("{title}")' in contents, "topics are called as their pages"


def test_a_link_opens_an_exercise_and_the_first_card_of_a_kind_is_open():
    for name in take_turns([*read_exercises()], 8):
        visit = linked(name, seed="3")
        assert not visit.exception
        assert not visit.info
        title = make_title(name)
        assert visit.header[0].value == title[0].upper() + title[1:]
    for kind, name in [("reach", "change one key"), ("write", "softmax")]:
        visit = opened(PAGE, {"kind": kind})
        assert hero(visit)["choices"] == {"exercise": name, "kind": kind}
        assert visit.header[0].value == name.capitalize()


def test_a_number_is_right_near_wrong_or_no_number():
    task = ask("a_score", 5)
    visit = linked("a_score", seed="5")
    for answer_given, reply in [
        (f"{task.answer}", "is right"),
        (f"{task.answer + 0.01:.4f}", "is close enough. Computed:"),
        (f"{task.answer + 1}", "is not it"),
        ("<b>inf</b>", "That cannot be read as a number"),
        ("1,2,3", "Write 0.25, 1/4, 25 %, 6,144 or 1e6."),
        (f"{task.answer:.2f}".replace(".", ","), "is right"),
    ]:
        visit.text_input[0].set_value(answer_given).run()
        assert reply in said(visit)
        assert not visit.exception
    assert [format_answer(n) for n in (16384.0, 0.12345, -2.5)] == ["16,384", "0.1235", "−2.5"]


def test_odd_links_and_answers_open_an_exercise():
    for value in VALUES.values():
        visit = linked("a_mask_for_one_pair", size_a_mask_for_one_pair_rule=value, seed=value)
        assert not visit.exception
        visit = linked("a_score", done=value, only=value, kind=value)
        for field in visit.text_input:
            field.set_value(value if isinstance(value, str) else "2^99").run()
        assert not visit.exception
    visit = linked("the_moon", only="the sun", kind="dance")
    assert len(visit.info) == 3, "a link to no exercise says so"
    assert visit.header[0].value == "A mixture"


def test_what_was_done_is_counted_once_and_can_be_taken_off():
    answer = ask("cells_of_a_causal_mask", 0).answer
    visit = linked("cells_of_a_causal_mask", done="a score", deep="done")
    visit.text_input[0].set_value(f"{answer}").run()
    done = visit.button_group("done")
    assert done.value == ["a score", "cells of a causal mask"]
    assert visit.query_params["done"] == done_in(visit) == done.value
    assert "You have done 2." in said(visit)
    done.set_value(["a score"]).run()
    assert "You have done 1." in said(visit)
    assert done_in(visit) == ["a score"]
    assert "is right" in said(visit)


def test_what_was_done_is_kept_while_its_card_is_closed():
    visit = opened(PAGE, {"done": ["a score", "the moon"]})
    assert any("done" in note.value for note in visit.info)
    visit.text_input[0].set_value(f"{ask('a_mixture', 0).answer}").run()
    both = ["a mixture", "a score"]
    assert visit.query_params["done"] == both
    press(visit, "Next exercise")
    assert done_in(visit) == both
    assert visit.header[0].value == "A weight of two"
    assert visit.session_state[TAKEAWAY].link.endswith("done=a%20mixture&done=a%20score")


def test_a_goal_is_reached_by_a_link_with_a_solution():
    for name in take_turns([e.id for e in read_exercises().values() if e.kind == "reach"], 3):
        solution = next(aim(name, 2).solutions())
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
    assert "Next exercise" not in labels(visit)
    visit.text_input[0].set_value(f"{ask('a_score', 0).answer}").run()
    press(visit, "Next exercise")
    assert visit.header[0].value == "Variance of products"
    assert visit.query_params["exercise"] == "variance of products"
    functions = [name for name, one in sort_cards().items() if one.kind == "write"]
    last = linked(functions[-1], kind="write", done=functions)
    press(last, "Next exercise")
    assert hero(last)["choices"] == {"exercise": "a mixture", "kind": "all"}
    everything = linked("a_score", done=list(sort_cards()))
    assert "Next exercise" not in labels(everything)
    assert len(done_in(everything)) == len(sort_cards())


def test_what_was_written_is_counted_by_the_learner():
    """Nothing runs here. The function "share" is called so in every language."""
    visit = linked("share", lang="vi")
    assert visit.header[0].value == "Share"
    assert "raise NotImplementedError" in visit.code[0].value
    assert not visit.text_input
    assert "share" not in visit.query_params.get("done", [])
    press(visit, "Bài của tôi đạt: tính là xong")
    assert visit.query_params["done"] == "share"
    press(visit, "Bài tiếp theo")
    assert hero(visit)["choices"]["exercise"] != "share"


def test_a_lecturers_set_is_all_there_is():
    link: dict[str, str | list[str]] = {"only": ["share", "a mixture"], "done": "a score"}
    for kind in ("predict", "reach"):  # of the second the set has none
        visit = opened(PAGE, link | {"kind": kind})
        assert names_in(visit) == ["a mixture", "share"]
        assert visit.header[0].value == "A mixture"
        assert "chose 2 exercises for you" in said(visit)
        assert not done_in(visit)
        assert visit.query_params["done"] == "a score", "it is done all the same"


def test_a_lecturer_chooses_a_set_and_copies_its_link():
    visit = opened(PAGE, {"deep": "lecturers", "seed": "7"})
    visit.button_group("only").set_value(["a score", "share"]).run()
    assert names_in(visit) == ["a score", "share"]
    assert "only=a%20score&only=share&seed=7" in visit.code[0].value
    visit.button_group("only").set_value([]).run()
    assert len(names_in(visit)) == len(sort_cards())


def test_a_class_is_shown_some_exercises_one_after_the_other():
    some = ["a mixture", "a score", "change one key", "softmax", "share"]
    visit = opened(PAGE, {"only": some, "lecture": "true"})
    titles = dict.fromkeys(one.value for one in visit.header)  # of a task, and of what comes out
    assert [*titles] == [name.capitalize() for name in some]
    assert f"**{format_answer(ask('a_score', 0).answer)}**" in said(visit)
    assert not visit.text_input
    without_set = linked("a_score", lecture="true", kind="predict")
    titles = dict.fromkeys(one.value for one in without_set.header)
    assert [*titles][:2] == ["A score", "A weight of two"]
    assert len(titles) == MOST_IN_LECTURE
