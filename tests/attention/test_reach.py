"""How far a mask reaches: by its law, by walking its arrows, and by torch's gradients."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from explainers.attention import masks
from explainers.attention.receptive_field import reach, window_reach
from explainers.attention.scaled_dot_product import attention

CHANCES = st.integers(0, 2**16)


def any_mask(seed, length=6):
    return torch.rand(length, length, generator=torch.Generator().manual_seed(seed)) < 0.3


@given(st.integers(1, 8), st.integers(1, 6), st.integers(1, 12))
def test_a_window_reaches_as_far_as_its_law_says(width, layers, length):
    mask = masks.build(masks.sliding_window(width), length, length)
    seen = reach(mask, layers)
    assert seen.shape == (layers, length, length)
    for layer, last in enumerate(seen[:, -1].tolist(), start=1):
        reached = min(length, window_reach(width, layer))
        assert last == [False] * (length - reached) + [True] * reached


@given(CHANCES)
def test_agrees_with_walking_from_token_to_token(seed):
    batch = torch.stack([any_mask(seed), any_mask(seed + 1)])
    for mask, layers in zip(batch, reach(batch, 4).tolist(), strict=True):
        reached = [{row} for row in range(6)]
        for layer in layers:
            reached = [
                {key for place in places for key in range(6) if mask[place, key]}
                for places in reached
            ]
            assert [{key for key in range(6) if row[key]} for row in layer] == reached


@pytest.mark.parametrize("rule", [*masks.RULES.values(), masks.sliding_window(2)])
def test_gradients_flow_exactly_as_far(rule):
    mask, seeded = masks.build(rule, 7, 7), torch.Generator().manual_seed(0)

    def three_layers(x):
        for _ in range(3):
            x = attention(x, x, x, mask).output
        return x

    x = torch.randn(7, 4, generator=seeded, dtype=torch.double)
    jacobian = torch.autograd.functional.jacobian(three_layers, x)
    assert torch.equal(jacobian.abs().sum(dim=(1, 3)) > 0, reach(mask, 3)[-1])


def test_what_cannot_be_stacked_is_refused_with_its_sizes():
    with pytest.raises(ValueError, match="0 layers"):
        reach(masks.build(masks.full, 5, 5), 0)
    with pytest.raises(ValueError, match=r"\(5, 7\)"):
        reach(masks.build(masks.full, 5, 7), 2)
