"""Positions past the trained length: speeds against transformers, and limiting cases."""

import pytest
import torch
from torch.testing import assert_close
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from explainers.attention.rotary import angles
from explainers.attention.stretching import (
    find_slowed_share,
    interpolate,
    interpolate_slow_pairs,
    raise_base,
    sharpen,
)

HEAD_DIM, LONGEST, TRAINED, FACTOR = 64, 10_000.0, 4096, 4.0
PLAIN = angles(torch.ones(1), HEAD_DIM, LONGEST)[0]
NEAR = 1e-6


def ask_transformers(kind, length=TRAINED):
    """Their speeds, and what they multiply queries and keys with."""
    parameters = {
        "rope_type": kind,
        "factor": FACTOR,
        "rope_theta": LONGEST,
        "original_max_position_embeddings": TRAINED,
    }
    config = LlamaConfig(
        hidden_size=8 * HEAD_DIM,
        num_attention_heads=8,
        head_dim=HEAD_DIM,
        max_position_embeddings=TRAINED,
        rope_parameters=parameters,
    )
    return ROPE_INIT_FUNCTIONS[kind](config, "cpu", seq_len=length)


def test_interpolation_is_that_of_transformers():
    theirs, factor = ask_transformers("linear")
    assert_close(interpolate(PLAIN, FACTOR), theirs, rtol=NEAR, atol=0.0)
    assert factor == 1


@pytest.mark.parametrize("times", [1, 2, 4])
def test_a_raised_base_is_that_of_transformers(times):
    """Theirs grows with the text, from 1 at the trained length on."""
    theirs, factor = ask_transformers("dynamic", TRAINED * times)
    assert_close(
        raise_base(HEAD_DIM, LONGEST, FACTOR * times - (FACTOR - 1)), theirs, rtol=NEAR, atol=0.0
    )
    assert factor == 1


def test_yarn_is_that_of_transformers():
    theirs, factor = ask_transformers("yarn")
    share = find_slowed_share(HEAD_DIM, LONGEST, TRAINED)
    assert_close(interpolate_slow_pairs(PLAIN, FACTOR, share), theirs, rtol=NEAR, atol=0.0)
    assert sharpen(FACTOR) == pytest.approx(factor**2, rel=1e-6)
    assert sharpen(1.0) == 1
    assert 0 < int(((share > 0) & (share < 1)).sum()) < HEAD_DIM // 2
