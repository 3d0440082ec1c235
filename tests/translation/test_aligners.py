"""IBM Model 2 and the HMM: counted by hand, against every path there is, and never less likely."""

import itertools

import pytest
import torch
from torch.testing import assert_close

from explainers.translation.alignment import Ibm1Model
from explainers.translation.cooccurrence import find_cooccurrences
from explainers.translation.corpus import draw_sentences
from explainers.translation.hmm_alignment import HmmModel, Jumps, find_best_path, forward_backward
from explainers.translation.ibm2 import Ibm2Model

BOOKS = [(["the", "house"], ["ngôi", "nhà"]), (["the", "book"], ["ngôi", "sách"])]
SOME = [(pair.source, pair.target) for pair in draw_sentences("tests of aligners", 60, False, ())]


@pytest.fixture(scope="module")
def plain():
    return Ibm1Model.learn(SOME, rounds=3, has_empty_word=False)


@pytest.mark.parametrize("pairs", [[], [([], ["nhà"])], [(["house"], [])]])
def test_nothing_to_learn_from_is_refused(pairs):
    with pytest.raises(ValueError, match="no pair"):
        find_cooccurrences(pairs)


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


@pytest.mark.parametrize("has_empty_word", [True, False])
def test_model_2_never_gets_less_likely(has_empty_word):
    start = Ibm1Model.learn(SOME, rounds=1, has_empty_word=has_empty_word)
    likelihoods = Ibm2Model.learn(SOME, start, rounds=12).log_likelihoods
    assert all(after >= before for before, after in itertools.pairwise(likelihoods))
    assert likelihoods[-1] > likelihoods[0] + 100


def test_the_hmm_never_gets_less_likely(plain):
    likelihoods = HmmModel.learn(SOME, plain, rounds=12).log_likelihoods
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


@pytest.mark.parametrize(("num_syllables", "num_words"), [(1, 1), (1, 3), (4, 1), (4, 3), (5, 4)])
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


@pytest.mark.parametrize(("num_syllables", "num_words"), [(1, 3), (4, 3), (5, 4)])
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


def test_the_hmm_refuses_an_empty_word():
    with pytest.raises(ValueError, match="empty word"):
        HmmModel.learn(BOOKS, Ibm1Model.learn(BOOKS))
