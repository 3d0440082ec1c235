"""Alignment: its error rate, links read from weights, IBM Model 1 by hand."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from explainers.translation import alignment

LINKS = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 3)))


def test_a_case_counted_by_hand():
    sure = {(0, 0), (1, 1), (2, 1)}
    possible = sure | {(3, 0), (3, 2)}
    predicted = {(0, 0), (1, 2), (2, 1), (3, 2)}  # two sure, one possible, one wrong
    score = alignment.score_alignment(predicted, sure, possible)
    assert score.precision == 3 / 4
    assert score.recall == 2 / 3
    assert score.aer == pytest.approx(1 - (2 + 3) / (4 + 3))


@given(LINKS, LINKS.filter(bool))
def test_with_sure_links_only_it_is_one_minus_f1(predicted, gold):
    score = alignment.score_alignment(predicted, gold, gold)
    f1 = 2 * score.precision * score.recall / ((score.precision + score.recall) or 1)
    assert score.aer == pytest.approx(1 - f1)


@pytest.mark.parametrize(("sure", "possible"), [(set(), {(0, 0)}), ({(0, 0)}, {(0, 1)})])
def test_gold_that_cannot_be_is_refused(sure, possible):
    with pytest.raises(ValueError, match="sure links"):
        alignment.score_alignment({(0, 0)}, sure, possible)


def test_the_links_of_a_corpus_are_told_apart_by_their_sentence():
    links = [{(0, 0)}, {(0, 0), (1, 1), (2, 2)}]
    assert alignment.pool_links(links) == {(0, 0, 0), (1, 0, 0), (1, 1, 1), (1, 2, 2)}


#                          a     b    <eos>
WEIGHTS = torch.tensor([[0.2, 0.1, 0.7], [0.1, 0.8, 0.1], [0.6, 0.3, 0.1], [0.0, 0.1, 0.9]])


def test_links_are_read_one_row_apart():
    assert alignment.read_links(WEIGHTS, 2, 3, alignment.PREDICTED) == {(0, 0), (1, 1), (2, 0)}
    assert alignment.read_links(WEIGHTS, 2, 3, alignment.INPUT) == {(0, 1), (1, 0), (2, 1)}


@pytest.mark.parametrize(("words", "syllables"), [(2, 4), (3, 3), (0, 3), (2, 0)])
def test_weights_of_another_sentence_are_refused(words, syllables):
    with pytest.raises(ValueError, match=r"weights \(4, 3\) are no rows and columns of"):
        alignment.read_links(WEIGHTS, words, syllables)


def test_the_diagonal():
    assert alignment.align_diagonally(2, 4) == {(0, 0), (1, 0), (2, 1), (3, 1)}
    assert alignment.align_diagonally(3, 2) == {(0, 0), (1, 1)}


# Brown et al.'s idea in its smallest form: "the" is in both, so it cannot be "nhà" nor "sách".
BOOKS = [(["the", "house"], ["ngôi", "nhà"]), (["the", "book"], ["ngôi", "sách"])]


def test_the_first_two_rounds_are_counted_by_hand():
    """The empty word has met the same as "the": they share what they are given."""
    one = alignment.Ibm1Model.learn(BOOKS, rounds=1).probability
    assert one["the", "ngôi"] == one["house", "nhà"] == pytest.approx(1 / 2)
    assert one["the", "nhà"] == one["", "nhà"] == pytest.approx(1 / 4)
    two = alignment.Ibm1Model.learn(BOOKS, rounds=2).probability
    # "nhà" is shared out 1/4 : 1/4 : 1/2 between "", "the" and "house", "ngôi" 1 : 1 : 1 twice.
    assert two["house", "nhà"] == pytest.approx((1 / 2) / (1 / 2 + 1 / 3))
    assert two["the", "ngôi"] == pytest.approx((2 / 3) / (2 / 3 + 1 / 4 + 1 / 4))
    model = alignment.Ibm1Model.learn(BOOKS, rounds=6)
    assert model.align(["book", "the"], ["sách", "nhà", "xe"]) == {(0, 0), (1, 1)}
    assert model.align([], ["nhà"]) == set()


def test_a_syllable_that_translates_nothing_goes_to_the_empty_word():
    pairs = [([word], [f"{word}!", "ạ"]) for word in "abcdef"]
    assert alignment.Ibm1Model.learn(pairs).align(["a"], ["a!", "ạ"]) == {(0, 0)}
