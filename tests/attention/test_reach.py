"""How far a mask reaches: by walking its arrows."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from explainers.attention import masks
from explainers.attention.receptive_field import reach

CHANCES = st.integers(0, 2**16)


def any_mask(seed, length=6):
    return torch.rand(length, length, generator=torch.Generator().manual_seed(seed)) < 0.3


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


def test_what_cannot_be_stacked_is_refused_with_its_sizes():
    with pytest.raises(ValueError, match="0 layers"):
        reach(masks.build(masks.full, 5, 5), 0)
    with pytest.raises(ValueError, match=r"\(5, 7\)"):
        reach(masks.build(masks.full, 5, 7), 2)
