"""Sinusoidal positions against the paper's formula, and the law that makes them useful."""

import math

import pytest
import torch
from torch.testing import assert_close

from explainers.attention import masks
from explainers.attention.positions import reorder, sinusoidal
from explainers.attention.single_head import SingleHead


@pytest.mark.parametrize("d_model", [8, 7])  # an odd width ends with a sine that has no cosine
@pytest.mark.parametrize("longest", [20.0, 10_000.0])
def test_the_papers_formula(longest, d_model):
    expected = [
        [
            math.sin(position / longest ** (column / d_model))
            if column % 2 == 0
            else math.cos(position / longest ** ((column - 1) / d_model))
            for column in range(d_model)
        ]
        for position in range(30)
    ]
    # float32 keeps an angle up to 30 to about 30 · 2⁻²², and sine and cosine move no faster.
    assert_close(sinusoidal(30, d_model, longest), torch.tensor(expected), atol=30 * 2**-22, rtol=0)


def test_only_places_or_a_mask_tell_two_orders_apart():
    random = torch.Generator().manual_seed(0)
    sizes = (9, 13), (13, 11), (13, 11), (13, 4)
    x, w_query, w_key, w_value = (torch.randn(size, generator=random) for size in sizes)
    head = SingleHead(w_query, w_key, w_value)
    places, order = sinusoidal(9, 13, 100.0), torch.tensor([4, 0, 8, 2, 7, 1, 6, 3, 5])
    full, causal = masks.build(masks.full, 9, 9), masks.build(masks.causal, 9, 9)

    def moved(places, mask):
        before, after = reorder(x, places, head, mask, order)
        return (before - after).abs().max().item()

    assert moved(torch.zeros(9, 13), full) < 1e-4
    assert moved(places, full) > 0.1
    assert moved(torch.zeros(9, 13), causal) > 0.1
    assert_close(*reorder(x, places, head, causal, torch.arange(9)))
