"""Windows and overviews of weights that never exist together are those of the full softmax."""

from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from explainers.attention import masks
from explainers.attention.scaled_dot_product import attention
from explainers.attention.weight_windows import cut, overview, row_totals, window
from explainers.chapters.long_sequences.measurement import measure_peak

CPU = torch.device("cpu")
assert_exact = partial(assert_close, atol=1e-12, rtol=0)


@st.composite
def heads(draw):
    """Queries (2, q_len, 11), keys (2, kv_len, 11) in float64, a block that need not fit."""
    random = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    kv_len = draw(st.integers(1, 23))
    q_len, spread = draw(st.integers(1, kv_len)), draw(st.sampled_from((0.1, 3.0, 40.0)))
    query = spread * torch.randn(2, q_len, 11, generator=random).double()
    key = torch.randn(2, kv_len, 11, generator=random).double()
    return query, key, draw(st.integers(1, 25)), draw(st.booleans())


def of_softmax(query, key, is_causal):
    """(2, q_len, kv_len), by `attention`, all at once."""
    rule = masks.causal if is_causal else masks.full
    return attention(query, key, key, masks.build(rule, query.shape[-2], key.shape[-2])).weights


@settings(max_examples=150)
@given(heads(), st.data())
def test_any_window_is_that_of_softmax(given, data):
    query, key, block, is_causal = given
    totals = row_totals(query, key, block, is_causal)
    edges = [
        sorted(
            data.draw(st.lists(st.integers(0, x.shape[-2]), min_size=2, max_size=2, unique=True))
        )
        for x in (query, key)
    ]
    rows, columns = (slice(*pair) for pair in edges)
    whole = of_softmax(query, key, is_causal)
    part = window(query, key, totals, rows, columns, is_causal)
    assert_exact(part, whole[..., rows, columns])


@settings(max_examples=150)
@given(heads())
def test_the_overview_is_the_largest_weight_of_each_block(given):
    query, key, block, is_causal = given
    totals = row_totals(query, key, block, is_causal)
    whole, shown = of_softmax(query, key, is_causal), overview(query, key, totals, block, is_causal)
    strips = [part.split(block, dim=-1) for part in whole.split(block, dim=-2)]
    by_hand = torch.stack(
        [torch.stack([tile.amax(dim=(-2, -1)) for tile in strip], -1) for strip in strips], -2
    )
    assert_exact(shown, by_hand)


def test_memory_is_at_most_twice_that_of_q_and_k():
    """Kept and worked on, all together; the square alone would be 64 times Q and K."""
    length, head_dim, block = 8_192, 64, 512
    query, key = torch.randn(2, length, head_dim)
    given = query.nbytes + key.nbytes
    totals = row_totals(query, key, block, is_causal=True)
    ends = slice(length - 512, length), slice(0, 512)
    for compute in (
        lambda: row_totals(query, key, block, is_causal=True),
        lambda: overview(query, key, totals, block, is_causal=True),
        lambda: window(query, key, totals, *ends, is_causal=True),
    ):
        assert given + totals.nbytes + measure_peak(compute, CPU) <= 2 * given


def test_what_cannot_be_is_named():
    with pytest.raises(ValueError, match="3 queries cannot be the last of 2 keys"):
        row_totals(torch.ones(3, 4), torch.ones(2, 4), 2, is_causal=True)
    with pytest.raises(ValueError, match="blocks of 0 positions are empty"):
        cut(7, 0)
    assert [at for part in cut(7, 3) for at in range(7)[part]] == [*range(7)]
