"""Exercises: for many seeds the reference answer is right, others are not, and numbers agree."""

import re

import pytest

from explainers.chapters.exercises.__main__ import main
from explainers.chapters.exercises.deck import Goal, Prediction, read_exercises
from explainers.chapters.exercises.write import HOLE, HOLES, find_fault, make_template
from explainers.translations import load_sections
from tests.support.exercises import ask
from tests.support.tiers import EVERYTHING

TEXT = load_sections("23_exercises")
SEEDS = range(200 if EVERYTHING else 30)
SLOW = {"a_model_on_two_gpus"}
"""Its settings take long to try one by one, so fewer seeds try them all."""
OF_ITS_SIZE = {"gigabytes_of_a_model", "a_correction"}
"""What is near to these is neither half nor double."""


def of_kind(kind):
    chosen = [one for one in read_exercises().values() if one.kind == kind]
    return pytest.mark.parametrize("exercise", chosen, ids=lambda one: one.id)


def slots(section):
    return set(re.findall(r"\{\{(\w+)", TEXT[section]))


@of_kind("predict")
def test_only_the_answer_and_what_is_near_it_is_accepted(exercise):
    for seed in SEEDS:
        task = exercise.task(seed)
        assert isinstance(task, Prediction)
        assert task.accepts(task.answer)
        far = max(1.0, 2 * task.tolerance)
        times = (0, 0.5, 2) if exercise.id in OF_ITS_SIZE else ()
        wrong = [task.answer + far, task.answer - far, *(one * task.answer for one in times)]
        assert not any(map(task.accepts, (*wrong, float("nan"), float("inf"))))
        assert task == exercise.task(seed), "the same seed gives the same numbers"
    assert len({str(exercise.task(seed).given) for seed in SEEDS}) > 2, "it can be done again"
    assert slots(f"task_{exercise.id}") == set(task.given)
    assert slots(f"solution_{exercise.id}") <= {*task.given, *task.worked, "answer"}


@of_kind("reach")
def test_a_goal_is_neither_met_at_once_nor_out_of_reach(exercise):
    for seed in SEEDS if exercise.id not in SLOW else range(3):
        task = exercise.task(seed)
        assert isinstance(task, Goal)
        assert not task.measure(**task.start).met
        solution = next(task.solutions())
        assert task.measure(**solution).met
        assert all(solution[s.name] in s.values and s.default in s.values for s in task.settings)
    asked = slots(f"task_{exercise.id}")
    assert asked | slots(f"measured_{exercise.id}") >= set(task.given) >= asked
    assert slots(f"measured_{exercise.id}") <= {*task.given, *task.measure(**task.start).measured}


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("cells_of_a_causal_mask", lambda tokens: tokens * (tokens + 1) // 2),
        ("cells_of_a_window", lambda tokens, width: tokens * width - width * (width - 1) // 2),
        ("reach_of_windows", lambda layers, width: layers * (width - 1) + 1),
        ("query_heads_per_group", lambda heads, kv_heads, head: head * kv_heads // heads),
        ("cells_between_sequences", lambda queries, keys: (queries + keys) ** 2 - queries * keys),
        (
            "a_turn_past_the_length",
            lambda position, number, trained, length: (
                position * 10 ** (1 - number) * trained / length
            ),
        ),
    ],
)
def test_the_numbers_of_the_statement_are_those_that_were_computed_with(name, formula):
    for seed in SEEDS:
        task = ask(name, seed)
        said = {key: int(value.replace(",", "")) for key, value in task.given.items()}
        assert task.answer == pytest.approx(formula(**said), rel=1e-9)


def test_weights_as_fine_as_possible_are_asked_for_whatever_the_cache():
    """With the cache in bfloat16, int4 weights are the finest that fit; but fp8 fits with fp8."""
    task = read_exercises()["a_model_on_two_gpus"].task(0)
    assert isinstance(task, Goal)
    assert task.given == {"tokens": "16,384", "readers": "16"}
    assert task.measure(weights="fp8", cache="fp8").met
    assert not task.measure(weights="int4", cache="bfloat16").met


def test_texts_are_there_for_each_and_for_nothing_else():
    answered = [e.id for e in read_exercises().values() if e.kind != "write"]
    for name, kinds in (("task", "predict reach"), ("solution", "predict"), ("measured", "reach")):
        wanted = {e.id for e in read_exercises().values() if e.kind in kinds.split()}
        written = {s.removeprefix(f"{name}_") for s in TEXT if s.startswith(f"{name}_")}
        assert written - {"settings"} == wanted
    assert {s.removeprefix("hint_") for s in TEXT if s.startswith("hint_")} == set(answered)
    assert {e.id for e in read_exercises().values() if e.kind == "write"} == set(HOLES)


@pytest.mark.parametrize("name", HOLES)
def test_our_own_function_passes_and_a_wrong_one_does_not(name):
    hole = HOLES[name]
    assert find_fault(hole, hole.function) == ""
    assert HOLE in hole.template
    assert "not written" in find_fault(hole, lambda *_: (_ for _ in ()).throw(NotImplementedError))
    assert find_fault(hole, lambda *given: given[0]) != ""
    assert "it gives nothing, not" in find_fault(hole, lambda *_: None)
    assert "ZeroDivisionError" in find_fault(hole, lambda *given: len(given) / 0)


def test_a_hole_tells_sizes_and_a_fault_its_part():
    assert "#   the result: (5, 2, 3, 4)" in HOLES["split_heads"].template
    hole = HOLES["attention"]
    assert "# `scores` are those before the mask." in hole.template

    def masked(*given):
        right = hole.function(*given)
        return right._replace(scores=right.scores.masked_fill(~given[3], -1.0))

    assert "mask (3, 6): `scores`: Tensor-likes are not close" in find_fault(hole, masked)


def test_a_file_is_made_checked_and_never_overwritten(tmp_path, capsys):
    file = tmp_path / "my_attention.py"
    assert main(["check", str(file)]) == 2
    assert main(["start", str(file)]) == 0
    assert main(["start", str(file)]) == 2
    assert file.read_text(encoding="utf-8") == make_template(file.name)
    assert main(["check", str(file)]) == 1
    assert f"0 of {len(HOLES)}" in capsys.readouterr().out
    ours = "\n".join(
        f"from {hole.function.__module__} import {name}" for name, hole in HOLES.items()
    )
    file.write_text(ours, encoding="utf-8")
    assert main(["check", str(file)]) == 0
    file.write_text("import nothing_of_that_name", encoding="utf-8")
    assert main(["check", str(file)]) == 2
    assert "cannot be read: ModuleNotFoundError" in capsys.readouterr().out
