"""Alignment: its error rate, links read from weights, IBM's models and the HMM by hand."""

import itertools
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from explainers.translation.alignment import (
    INPUT,
    PREDICTED,
    Ibm1Model,
    align_diagonally,
    pool_links,
    read_links,
    score_alignment,
)
from explainers.translation.cooccurrence import find_cooccurrences
from explainers.translation.corpus import draw_sentences
from explainers.translation.hmm_alignment import HmmModel, Jumps, find_best_path, forward_backward
from explainers.translation.ibm2 import Ibm2Model

LINKS = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 3)))


def test_a_case_counted_by_hand():
    sure = {(0, 0), (1, 1), (2, 1)}
    possible = sure | {(3, 0), (3, 2)}
    predicted = {(0, 0), (1, 2), (2, 1), (3, 2)}  # two sure, one possible, one wrong
    score = score_alignment(predicted, sure, possible)
    assert score.precision == 3 / 4
    assert score.recall == 2 / 3
    assert score.aer == pytest.approx(1 - (2 + 3) / (4 + 3))


@given(LINKS, LINKS.filter(bool))
def test_with_sure_links_only_it_is_one_minus_f1(predicted, gold):
    score = score_alignment(predicted, gold, gold)
    f1 = 2 * score.precision * score.recall / ((score.precision + score.recall) or 1)
    assert score.aer == pytest.approx(1 - f1)


@pytest.mark.parametrize(("sure", "possible"), [(set(), {(0, 0)}), ({(0, 0)}, {(0, 1)})])
def test_gold_that_cannot_be_is_refused(sure, possible):
    with pytest.raises(ValueError, match="sure links"):
        score_alignment({(0, 0)}, sure, possible)


def test_a_corpus_is_counted_together_and_not_sentence_by_sentence():
    gold = [{(0, 0)}, {(0, 0), (1, 1), (2, 2)}]
    predicted = [{(0, 1)}, {(0, 0), (1, 1), (2, 2)}]
    score = score_alignment(pool_links(predicted), pool_links(gold), pool_links(gold))
    assert score.aer == pytest.approx(1 / 4)  # the mean of both sentences would be 1 / 2
    assert pool_links(gold) == {(0, 0, 0), (1, 0, 0), (1, 1, 1), (1, 2, 2)}


#                          a     b    <eos>
WEIGHTS = torch.tensor([[0.2, 0.1, 0.7], [0.1, 0.8, 0.1], [0.6, 0.3, 0.1], [0.0, 0.1, 0.9]])


def test_links_are_read_one_row_apart():
    assert read_links(WEIGHTS, 2, 3, PREDICTED) == {(0, 0), (1, 1), (2, 0)}
    assert read_links(WEIGHTS, 2, 3, INPUT) == {(0, 1), (1, 0), (2, 1)}


@pytest.mark.parametrize(("words", "syllables"), [(2, 4), (3, 3), (0, 3), (2, 0)])
def test_weights_of_another_sentence_are_refused(words, syllables):
    with pytest.raises(ValueError, match=r"weights \(4, 3\) are no rows and columns of"):
        read_links(WEIGHTS, words, syllables)


def test_the_diagonal():
    assert align_diagonally(2, 4) == {(0, 0), (1, 0), (2, 1), (3, 1)}
    assert align_diagonally(3, 2) == {(0, 0), (1, 1)}


# Brown et al.'s idea in its smallest form: "the" is in both, so it cannot be "nhà" nor "sách".
BOOKS = [(["the", "house"], ["ngôi", "nhà"]), (["the", "book"], ["ngôi", "sách"])]


def test_the_first_two_rounds_are_counted_by_hand():
    one = Ibm1Model.learn(BOOKS, rounds=1, has_empty_word=False).probability
    assert one["the", "ngôi"] == one["house", "nhà"] == pytest.approx(1 / 2)
    assert one["the", "nhà"] == pytest.approx(1 / 4)
    two = Ibm1Model.learn(BOOKS, rounds=2, has_empty_word=False).probability
    # "nhà" is shared out 1/4 : 1/2 between "the" and "house", "ngôi" 1/2 : 1/2 twice.
    assert two["house", "nhà"] == pytest.approx((2 / 3) / (2 / 3 + 1 / 2))
    assert two["the", "ngôi"] == pytest.approx(1 / (1 + 1 / 3 + 1 / 3))
    model = Ibm1Model.learn(BOOKS, rounds=6, has_empty_word=False)
    assert model.align(["book", "the"], ["sách", "nhà", "xe"]) == {(0, 0), (1, 1)}
    assert model.align([], ["nhà"]) == set()


def test_a_syllable_that_translates_nothing_goes_to_the_empty_word():
    pairs = [([word], [f"{word}!", "ạ"]) for word in "abcdef"]
    with_null, without = (Ibm1Model.learn(pairs, 6, null) for null in (True, False))
    assert with_null.align(["a"], ["a!", "ạ"]) == {(0, 0)}
    assert without.align(["a"], ["a!", "ạ"]) == {(0, 0), (1, 0)}


SOME = [(pair.source, pair.target) for pair in draw_sentences("tests of aligners", 60, False, ())]


def test_what_nothing_can_be_learned_from_is_refused():
    nothing: list[Any] = [[], [([], ["nhà"])], [(["house"], [])]]
    for pairs in nothing:
        with pytest.raises(ValueError, match="no pair"):
            find_cooccurrences(pairs)
    with pytest.raises(ValueError, match="empty word"):
        HmmModel.learn(BOOKS, Ibm1Model.learn(BOOKS))


def test_a_round_of_model_2_is_counted_by_hand():
    """From equal places, places are shared as Model 1 shares words; then they count too."""
    start = Ibm1Model.learn(BOOKS, rounds=2, has_empty_word=False)
    one = Ibm2Model.learn(BOOKS, start, rounds=1)
    first = [start.probability["the", "ngôi"], start.probability["house", "ngôi"]]
    second = [start.probability["the", "nhà"], start.probability["house", "nhà"]]
    by_hand = torch.tensor([first, second], dtype=torch.double)
    assert_close(one.places[2, 2], by_hand / by_hand.sum(dim=-1, keepdim=True))
    assert one.probability == pytest.approx(
        Ibm1Model.learn(BOOKS, rounds=3, has_empty_word=False).probability
    )
    assert one.log_likelihoods[0] == pytest.approx(2 * (by_hand.sum(-1) / 2).log().sum().item())


def test_model_2_takes_the_likelier_place_where_words_are_equal():
    equal = {("a", "x"): 0.5, ("b", "x"): 0.5}
    places = {(1, 2): torch.tensor([[0.1, 0.9]])}
    assert Ibm2Model(equal, places, False, ()).align(["a", "b"], ["x"]) == {(0, 1)}


@pytest.mark.parametrize("kind", ["HMM", "model 2", "model 2 with an empty word"])
def test_a_model_never_gets_less_likely(kind):
    start = Ibm1Model.learn(SOME, rounds=1, has_empty_word="empty" in kind)
    learn = HmmModel.learn if kind == "HMM" else Ibm2Model.learn
    likelihoods = learn(SOME, start, rounds=12).log_likelihoods
    assert all(after >= before for before, after in itertools.pairwise(likelihoods))
    assert likelihoods[-1] > likelihoods[0] + 100


def draw_hmm(num_syllables, num_words, batch=2):
    drawn = torch.Generator().manual_seed(10 * num_syllables + num_words)
    emissions = torch.rand(batch, num_syllables, num_words, generator=drawn, dtype=torch.double)
    steps = torch.rand(num_words + 1, num_words, generator=drawn, dtype=torch.double)
    return emissions, steps / steps.sum(dim=-1, keepdim=True)


def weigh_paths(emissions, steps):
    """Every path through the words, with its probability."""
    num_syllables, num_words = emissions.shape
    for path in itertools.product(range(num_words), repeat=num_syllables):
        weight = steps[0, path[0]] * emissions[0, path[0]]
        for syllable in range(1, num_syllables):
            weight = weight * steps[path[syllable - 1] + 1, path[syllable]]
            weight = weight * emissions[syllable, path[syllable]]
        yield path, weight.item()


@pytest.mark.parametrize(("num_syllables", "num_words"), [(1, 3), (4, 1), (5, 4)])
def test_forward_and_backward_is_the_sum_over_all_paths(num_syllables, num_words):
    emissions, steps = draw_hmm(num_syllables, num_words)
    found = forward_backward(emissions, steps)
    places, counted = torch.zeros_like(emissions), torch.zeros_like(steps)
    log_likelihood = 0.0
    for sentence, rows in enumerate(emissions):
        paths = list(weigh_paths(rows, steps))
        total = sum(weight for _, weight in paths)
        log_likelihood += torch.tensor(total).log().item()
        for path, weight in paths:
            counted[0, path[0]] += weight / total
            for syllable, word in enumerate(path):
                places[sentence, syllable, word] += weight / total
                if syllable:
                    counted[path[syllable - 1] + 1, word] += weight / total
    assert_close(found.places, places)
    assert_close(found.steps, counted)
    assert found.log_likelihood == pytest.approx(log_likelihood, rel=1e-6)


@pytest.mark.parametrize(("num_syllables", "num_words"), [(1, 3), (5, 4)])
def test_the_best_path_is_the_likeliest_of_all(num_syllables, num_words):
    [emissions, _], steps = draw_hmm(num_syllables, num_words)
    best, _ = max(weigh_paths(emissions, steps), key=lambda found: found[1])
    assert find_best_path(emissions, steps) == list(best)


def test_jumps_come_to_what_was_counted():
    """Where every step could be learned exactly, the weights become its shares."""
    counted = {2: torch.tensor([[3, 1], [1, 4], [2, 8]], dtype=torch.double)}
    jumps = Jumps(2, torch.ones(7, dtype=torch.double))
    for _ in range(200):
        jumps = jumps.reestimate(counted)
    steps = jumps.read_steps(2)
    assert_close(steps[0], torch.tensor([3 / 4, 1 / 4]).double())
    assert_close(steps[1], torch.tensor([1 / 5, 4 / 5]).double(), atol=1e-6, rtol=0)
    assert_close(steps[2], torch.tensor([2 / 10, 8 / 10]).double(), atol=1e-6, rtol=0)
