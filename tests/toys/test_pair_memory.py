"""Memories that learn pairs: the task, the models, what was shipped, and training again."""

import pytest
import torch

from explainers.toys import pair_memory
from explainers.toys.examples import make_generator
from workshop.toys.measure_memories import train_row
from workshop.toys.tolerance import allows


@pytest.mark.parametrize("has_repeats", [False, True])
def test_an_answer_is_the_newest_value_of_its_key(has_repeats):
    pairs = pair_memory.draw_pairs(20, 30, has_repeats, make_generator("test"))
    for keys, values, asked, answers in zip(*pairs, strict=True):
        newest = dict(zip(keys.tolist(), values.tolist(), strict=True))
        assert [newest[key] for key in asked.tolist()] == answers.tolist()
        assert len(newest) <= pair_memory.REPEATED if has_repeats else len(newest) == 30
    assert pairs.asked.shape == (20, pair_memory.ASKED)
    assert int(pairs.values.max()) < pair_memory.KEYS


@pytest.mark.parametrize("rule", pair_memory.RULES)
def test_questions_see_the_pairs_and_no_other_question(rule):
    memory = pair_memory.draw_memory([rule, rule], make_generator("test", rule))
    pairs = pair_memory.draw_pairs(3, 9, False, make_generator("test"))
    scores = pair_memory.score_answers(memory, pairs)
    assert scores.shape == (3, pair_memory.ASKED, pair_memory.KEYS)
    other = pairs._replace(asked=pairs.asked.clone())
    other.asked[:, -1] = (other.asked[:, -1] + 1) % pair_memory.KEYS
    assert torch.equal(pair_memory.score_answers(memory, other)[:, :-1], scores[:, :-1])
    changed = pairs._replace(values=(pairs.values + 1) % pair_memory.KEYS)
    assert not torch.allclose(pair_memory.score_answers(memory, changed), scores)


def test_a_few_batches_teach_something():
    *_unused, (memory, last) = pair_memory.train_memory([pair_memory.SUM], False, 0, 200)
    first = next(iter(pair_memory.train_memory([pair_memory.SUM], False, 0, 1)))[1]
    assert last < first - 1
    [found] = pair_memory.measure_memory(memory, [8], False)
    assert found > 0.5
    one, other, third = (
        [loss for _m, loss in pair_memory.train_memory([pair_memory.FADE], True, s, 3)]
        for s in (1, 1, 2)
    )
    assert one == other != third


@pytest.mark.nightly("trains a memory: four seconds")
def test_one_shipped_row_comes_out_again():
    assert set(pair_memory.read_results()) == {
        (rules, again) for rules in pair_memory.MODELS for again in (False, True)
    }
    row = pair_memory.read_results()[(pair_memory.OVERWRITE,), True]
    [again] = train_row([pair_memory.OVERWRITE], True, pair_memory.SEEDS[:1]).shares
    for place, share in enumerate(again):
        assert allows(pair_memory.FOUND, [of_seed[place] for of_seed in row.shares], share)
