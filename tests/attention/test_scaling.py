"""Why √d_k: measured on seeded draws, with the error that so many draws may have."""

import math

import pytest
import torch
from torch.testing import assert_close

from explainers.attention.scaling import (
    gradient_size,
    largest_weight,
    measure,
    random_scores,
    with_temperature,
)

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


def test_without_the_root_one_weight_takes_nearly_all():
    draws = 2000
    run = drawn(1024, draws)
    largest = largest_weight(run.products)
    assert largest.shape == (draws,)
    four_sigma = 4 * largest.std().item() / math.sqrt(draws)
    assert largest.mean() == pytest.approx(0.97, abs=0.005 + four_sigma)  # 0.97 is itself rounded
    assert (largest > 0.99).float().mean() > 0.5
    assert largest_weight(run.scores).mean() < 0.5


def test_gradient_size_is_the_norm_of_torchs_jacobian():
    rows = drawn(8, 5).scores
    for row, size in zip(rows, gradient_size(rows), strict=True):
        jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(dim=-1), row)
        assert_close(size, jacobian.norm())


def test_the_root_is_a_temperature():
    run = drawn(64, 6)
    assert_close(with_temperature(run.products, math.sqrt(64)), run.scores.softmax(dim=-1))
    assert_close(with_temperature(run.scores, 1.0), run.scores.softmax(dim=-1))
    flat, sharp = with_temperature(run.scores, 1e6), with_temperature(run.scores, 1e-6)
    assert_close(flat, torch.full_like(flat, 1 / KEYS), atol=1e-5, rtol=0)
    assert_close(sharp.amax(dim=-1), torch.ones(6))


def test_measure_is_what_its_parts_measure():
    run, found = drawn(16, 50), measure(16, KEYS, 50, torch.Generator().manual_seed(16))
    for way, scores in enumerate(run):
        assert found.variance[way] == pytest.approx(scores.var().item())
        assert_close(found.largest[way], largest_weight(scores))
        assert found.gradient[way] == pytest.approx(gradient_size(scores).mean().item())
