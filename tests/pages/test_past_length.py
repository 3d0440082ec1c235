"""The card on longer texts: where the pairs' hands are, and how far each pair is slowed down."""

import math

import pytest

from explainers.chapters.claims.about_positions import interpolation_is_free
from explainers.chapters.claims.claim_table import CONDITION, FAILS
from explainers.chapters.exercises.exercise_table import Prediction, read_exercises
from explainers.chapters.relative_positions import past_length
from explainers.chapters.relative_positions.past_length import (
    ANSWERS,
    LONGEST_TEXT,
    PairTurns,
    find_answer,
    name_turns,
    write_rows,
)
from explainers.charts.dials import make_dial_rows
from explainers.toys import longer_results
from explainers.toys.longer_texts import NTK, PAIRS, PI, PLAIN, ROTARY, TRAINED, WAYS, YARN


def test_doing_nothing_leads_slow_pairs_to_new_angles_and_interpolation_none():
    plain, pi = PairTurns.of(PLAIN), PairTurns.of(PI)
    slow = [turn < math.tau for turn in plain.seen.tolist()]
    assert plain.is_new == slow
    assert 0 < sum(slow) < PAIRS
    assert not any(pi.is_new)
    assert pi.asked.tolist() == pytest.approx(plain.trained.tolist())


def test_yarn_leaves_no_new_angle_and_the_fast_pair_as_it_was():
    yarn = PairTurns.of(YARN)
    assert yarn.speed[0] == PairTurns.of(PLAIN).speed[0]
    assert not any(yarn.is_new)
    assert 0 < sum(PairTurns.of(NTK).is_new) < sum(PairTurns.of(PLAIN).is_new)


@pytest.mark.parametrize("way", WAYS)
def test_the_sentence_counts_the_dials_that_are_marked(way):
    found = PairTurns.of(way)
    ends = (found.speed * LONGEST_TEXT).tolist()
    seen = (PairTurns.of(PLAIN).speed * TRAINED).tolist()
    beyond = [end > 1.0001 * most for end, most in zip(ends, seen, strict=True) if most < math.tau]
    assert name_turns(found)["new"] == f"{sum(beyond)}"


def test_a_dial_has_an_arc_of_one_turn_at_most_and_two_hands():
    series = "arc", "before", "known", "new"
    dials = [("57.3°", {"arc": 32.0, "before": 1.0, "new": 2.0}), ("1.0°", {"arc": 0.5})]
    rows = make_dial_rows(dials, 1, series)
    assert rows["y"].tolist() == [0, 0, 0, 1]
    assert rows["end"][0] == math.tau
    assert rows["start"][1] < 1 < rows["end"][1]
    assert rows["kind"].tolist() == [0, 1, 2, 0]
    assert rows["end"][3] == 0.5


def test_interpolation_without_training_is_worse_in_every_seed_and_the_claim_says_so():
    found = longer_results.read_longer_results()
    plain, pi = (found[ROTARY, way, 0].losses for way in (PLAIN, PI))
    assert all(one[-1] < other[-1] for one, other in zip(plain, pi, strict=True))
    assert find_answer() == ANSWERS[2]
    assert interpolation_is_free(0).verdict == FAILS
    assert interpolation_is_free(longer_results.FURTHER).verdict == CONDITION


def test_the_answer_follows_the_losses(monkeypatch):
    def answer(plain, pi):
        rows = {
            (ROTARY, way, 0): longer_results.LengthRow(ROTARY, way, 0, [[0, 0, loss]], [[0, 0, 0]])
            for way, loss in ((PLAIN, plain), (PI, pi))
        }
        monkeypatch.setattr(past_length, "read_longer_results", lambda: rows)
        return find_answer()

    assert [answer(2, 1), answer(2, 2.1), answer(2, 8)] == list(ANSWERS)


def test_the_table_has_a_row_for_each_kind_and_no_row_twice():
    rows = write_rows().split("\n")
    assert len({row.split("|")[1] for row in rows}) == len(rows) == 7
    assert all(row.count("|") == len(longer_results.LENGTHS) + 2 for row in rows)


@pytest.mark.parametrize("seed", range(5))
def test_the_exercise_asks_for_position_times_speed_over_the_factor(seed):
    task = read_exercises()["a_turn_past_the_length"].task(seed)
    assert isinstance(task, Prediction)
    given = {name: int(number) for name, number in task.given.items()}
    speed = 10.0 ** (1 - given["number"])
    turn = given["position"] * speed * given["trained"] / given["length"]
    assert task.accepts(turn)
    assert not task.accepts(given["position"] * speed)
