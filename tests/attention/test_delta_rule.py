"""The delta rule, its gate and the whole layer, against transformers' own on random weights."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import normalize
from torch.testing import assert_close
from transformers.models.qwen3_next import modeling_qwen3_next as theirs

from explainers.attention.delta_rule import gated_delta_attention, write_delta
from explainers.attention.linear import read_state

LENGTH, HEADS, HEAD_DIM, VALUE_DIM = 150, 3, 16, 24


def drawn(*axes, seed=0):
    return torch.randn(*axes, generator=torch.Generator().manual_seed(seed))


def unit(*axes, seed):
    return normalize(drawn(*axes, seed=seed), dim=-1)


def rates(*axes, seed):
    return torch.rand(*axes, generator=torch.Generator().manual_seed(seed))


def step_by_step(query, key, value, beta, keep):
    """The answers word by word, and the last state."""
    state = value.new_zeros(*value.shape[:-2], value.shape[-1], key.shape[-1])
    answers = []
    for word in range(key.shape[-2]):
        of_word = key[..., word, :], value[..., word, :], beta[..., word], keep[..., word]
        state = write_delta(state, *of_word)
        answers.append(read_state(state, query[..., word, :]))
    return torch.stack(answers, dim=-2), state


def inputs(length=LENGTH):
    query, key = (unit(HEADS, length, HEAD_DIM, seed=seed) for seed in (1, 2))
    return (
        query,
        key,
        drawn(HEADS, length, VALUE_DIM, seed=3),
        *(rates(HEADS, length, seed=4), torch.exp(-0.3 * rates(HEADS, length, seed=5))),
    )


@pytest.mark.parametrize(
    "rule", [theirs.torch_recurrent_gated_delta_rule, theirs.torch_chunk_gated_delta_rule]
)
def test_both_forms_are_transformers(rule):
    query, key, value, beta, keep = inputs()
    given_to_them = [one.transpose(0, 1)[None] for one in (query, key, value, keep.log(), beta)]
    output, last = rule(*given_to_them, output_final_state=True)
    expected, largest = output[0].transpose(0, 1), output.abs().max().item()
    scaled = query / HEAD_DIM**0.5
    answers, state = step_by_step(scaled, key, value, beta, keep)
    at_once = gated_delta_attention(scaled, key, value, beta, keep)
    for ours in (answers, at_once):
        assert (ours - expected).abs().max().item() <= 1e-6 * max(1.0, largest)
    assert (state.mT - last[0]).abs().max().item() <= 1e-6 * max(1.0, last.abs().max().item())


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 12), st.integers(1, 7), st.integers(1, 5), st.integers(0, 99))
def test_word_by_word_is_all_words_at_once(length, head_dim, value_dim, seed):
    query, key = (unit(2, length, head_dim, seed=seed + n).double() for n in (0, 1))
    value = drawn(2, length, value_dim, seed=seed + 2).double()
    beta, keep = (rates(2, length, seed=seed + n).double() for n in (3, 4))
    keep = keep.clamp(min=0.01)
    answers, _state = step_by_step(query, key, value, beta, keep)
    assert_close(gated_delta_attention(query, key, value, beta, keep), answers)


def test_a_word_that_keeps_nothing_spoils_no_other():
    query, key, value, beta, keep = inputs()
    keep[..., 3] = 0
    answers, _state = step_by_step(query, key, value, beta, keep)
    assert_close(gated_delta_attention(query, key, value, beta, keep), answers)
