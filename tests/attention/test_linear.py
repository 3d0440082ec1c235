"""Linear attention: word by word and all at once, and what sums cannot do."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from explainers.attention import masks
from explainers.attention.linear import linear_attention, read_state, write_sum


def drawn(*axes, seed=0):
    return torch.randn(*axes, generator=torch.Generator().manual_seed(seed), dtype=torch.double)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 12), st.integers(1, 7), st.integers(1, 5), st.integers(0, 99))
def test_word_by_word_is_all_words_at_once(length, head_dim, value_dim, seed):
    query, key = (
        drawn(2, 3, length, head_dim, seed=seed),
        drawn(2, 3, length, head_dim, seed=seed + 1),
    )
    value, state = (
        drawn(2, 3, length, value_dim, seed=seed + 2),
        torch.zeros(2, 3, value_dim, head_dim),
    )
    answers = []
    for word in range(length):
        state = write_sum(state.double(), key[..., word, :], value[..., word, :])
        answers.append(read_state(state, query[..., word, :]))
    mask = masks.build(masks.causal, length, length)
    assert_close(torch.stack(answers, dim=-2), linear_attention(query, key, value, mask))
