"""Why √d_k, and dropout of weights: measured on seeded draws, with the error they may have."""

import math

import pytest
import torch
from torch.testing import assert_close

from explainers.attention.dropout import drop
from explainers.attention.scaling import gradient_size, random_scores

KEYS = 7


def drawn(head_dim, draws):
    return random_scores(head_dim, KEYS, draws, torch.Generator().manual_seed(head_dim))


@pytest.mark.parametrize("head_dim", [4, 32, 256])
def test_products_vary_by_d_k_and_scores_by_one(head_dim):
    draws = 4000
    run = drawn(head_dim, draws)
    # Given the query, a product is normal with variance |q|², and |q|² is chi-squared with d_k
    # degrees of freedom. So the mean square of a draw's products has this relative variance:
    relative = (1 + 2 / head_dim) * 2 / KEYS + 2 / head_dim
    four_sigma = 4 * math.sqrt(relative / draws)
    assert run.products.square().mean() == pytest.approx(head_dim, rel=four_sigma)
    assert run.scores.square().mean() == pytest.approx(1, rel=four_sigma)
    assert_close(run.scores, run.products / math.sqrt(head_dim))


def test_gradient_size_is_the_norm_of_torchs_jacobian():
    rows = drawn(8, 5).scores
    for row, size in zip(rows, gradient_size(rows), strict=True):
        jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(dim=-1), row)
        assert_close(size, jacobian.norm())


SCORES = torch.randn(3, 5, 7, generator=torch.Generator().manual_seed(0))
WEIGHTS = SCORES.softmax(dim=-1)


def seeded(seed):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("probability", [0.1, 0.5, 0.9])
def test_as_often_as_asked_and_unchanged_on_average(probability):
    draws = 4_000
    many = drop(WEIGHTS.expand(draws, -1, -1, -1), probability, seeded(2))
    gone = (many == 0).double().mean().item()
    assert gone == pytest.approx(probability, abs=0.01)
    # One draw of a weight w has standard deviation w √(p / (1 − p)); five of the mean's are far.
    spread = (probability / (1 - probability) / draws) ** 0.5
    assert ((many.mean(dim=0) - WEIGHTS).abs() < 5 * spread * WEIGHTS).all()


def test_the_generator_alone_decides():
    assert torch.equal(drop(WEIGHTS, 0.5, seeded(4)), drop(WEIGHTS, 0.5, seeded(4)))
    assert not torch.equal(drop(WEIGHTS, 0.5, seeded(4)), drop(WEIGHTS, 0.5, seeded(5)))
    assert torch.equal(drop(WEIGHTS, 0, seeded(6)), WEIGHTS)


@pytest.mark.parametrize("probability", [1, -0.1, 1.5, float("nan")])
def test_a_probability_that_cannot_be_rescaled_is_refused(probability):
    with pytest.raises(ValueError, match=f"with probability {probability} "):
        drop(WEIGHTS, probability, seeded(7))
