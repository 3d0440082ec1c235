"""Why √d_k: measured on seeded draws, with the error that so many draws may have."""

import math

import pytest
import torch
from torch.testing import assert_close

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
