"""Memories that learn pairs: the task, the models, what was shipped, and training again."""

import pytest
import torch

from explainers.toys.examples import make_generator
from explainers.toys.pair_memory import (
    ASKED,
    FADE,
    KEYS,
    MODELS,
    OVERWRITE,
    REPEATED,
    RULES,
    SEEDS,
    SUM,
    TESTED_COUNTS,
    draw_memory,
    draw_pairs,
    measure_memory,
    read_results,
    score_answers,
    train_memory,
)
from workshop.toys.measure_memories import train_row


@pytest.mark.parametrize("has_repeats", [False, True])
def test_an_answer_is_the_newest_value_of_its_key(has_repeats):
    pairs = draw_pairs(20, 30, has_repeats, make_generator("test"))
    for keys, values, asked, answers in zip(*pairs, strict=True):
        newest = dict(zip(keys.tolist(), values.tolist(), strict=True))
        assert [newest[key] for key in asked.tolist()] == answers.tolist()
        assert len(newest) <= REPEATED if has_repeats else len(newest) == 30
    assert pairs.asked.shape == (20, ASKED)
    assert int(pairs.values.max()) < KEYS


@pytest.mark.parametrize("rule", RULES)
def test_questions_see_the_pairs_and_no_other_question(rule):
    memory = draw_memory([rule, rule], make_generator("test", rule))
    pairs = draw_pairs(3, 9, False, make_generator("test"))
    scores = score_answers(memory, pairs)
    assert scores.shape == (3, ASKED, KEYS)
    other = pairs._replace(asked=pairs.asked.clone())
    other.asked[:, -1] = (other.asked[:, -1] + 1) % KEYS
    assert torch.equal(score_answers(memory, other)[:, :-1], scores[:, :-1])
    changed = pairs._replace(values=(pairs.values + 1) % KEYS)
    assert not torch.allclose(score_answers(memory, changed), scores)


def test_a_few_batches_teach_something():
    *_unused, (memory, last) = train_memory([SUM], False, 0, 200)
    first = next(iter(train_memory([SUM], False, 0, 1)))[1]
    assert last < first - 1
    [found] = measure_memory(memory, [8], False)
    assert found > 0.5
    one, other, third = ([loss for _m, loss in train_memory([FADE], True, s, 3)] for s in (1, 1, 2))
    assert one == other != third


@pytest.mark.nightly("trains a memory: four seconds")
def test_one_shipped_row_comes_out_again():
    assert set(read_results()) == {(rules, again) for rules in MODELS for again in (False, True)}
    row = read_results()[(OVERWRITE,), True]
    [again] = train_row([OVERWRITE], True, SEEDS[:1]).shares
    assert all(row.allows(*both) for both in zip(TESTED_COUNTS, again, strict=True))
