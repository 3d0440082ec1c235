"""Linear attention, the delta rule and its gate: word by word, all at once, and transformers'."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import normalize
from torch.testing import assert_close
from transformers.models.qwen3_next import modeling_qwen3_next as theirs

from explainers.attention import linear, masks

HEADS = 3


def draw(length, head_dim, value_dim, seed):
    """Query, key, value, shares that are written, and shares that are kept: some keep nothing."""
    seeded = torch.Generator().manual_seed(seed)
    widths = [head_dim, head_dim, value_dim]
    query, key, value = (
        torch.randn(HEADS, length, width, generator=seeded, dtype=torch.double) for width in widths
    )
    beta, keep = torch.rand(2, HEADS, length, generator=seeded, dtype=torch.double)
    keep = keep.where(keep > 0.2, 0.0)
    return normalize(query, dim=-1), normalize(key, dim=-1), value, beta, keep


def word_by_word(write, query, key, value, *rates):
    """The answers, and the last state."""
    state = value.new_zeros(HEADS, value.shape[-1], key.shape[-1])
    answers = []
    for word in range(key.shape[-2]):
        state = write(
            state, key[..., word, :], value[..., word, :], *(rate[..., word] for rate in rates)
        )
        answers.append(linear.read_state(state, query[..., word, :]))
    return torch.stack(answers, dim=-2), state


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 12), st.integers(1, 7), st.integers(1, 5), st.integers(0, 99))
def test_word_by_word_is_all_words_at_once(length, head_dim, value_dim, seed):
    query, key, value, *rates = draw(length, head_dim, value_dim, seed)
    mask = masks.build(masks.causal, length, length)
    answers, _state = word_by_word(linear.write_sum, query, key, value)
    assert_close(linear.linear_attention(query, key, value, mask), answers)
    answers, _state = word_by_word(linear.write_delta, query, key, value, *rates)
    assert_close(linear.gated_delta_attention(query, key, value, *rates), answers)


def test_the_delta_rule_is_that_of_transformers():
    query, key, value, beta, keep = (one.float() for one in draw(150, 16, 24, seed=1))
    keep = (-0.3 * keep).exp()
    given_to_them = [one.transpose(0, 1)[None] for one in (query, key, value, keep.log(), beta)]
    output, last = theirs.torch_recurrent_gated_delta_rule(*given_to_them, output_final_state=True)
    expected, largest = output[0].transpose(0, 1), output.abs().max().item()
    scaled = query / 16**0.5
    answers, state = word_by_word(linear.write_delta, scaled, key, value, beta, keep)
    for ours in (answers, linear.gated_delta_attention(scaled, key, value, beta, keep)):
        assert (ours - expected).abs().max().item() <= 1e-6 * max(1.0, largest)
    assert (state.mT - last[0]).abs().max().item() <= 1e-6 * max(1.0, last.abs().max().item())
