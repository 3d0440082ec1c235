"""Dropout of weights: what stays is scaled so that on average nothing changes."""

import pytest
import torch

from explainers.attention.dropout import drop

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
