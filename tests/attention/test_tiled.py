"""Softmax in blocks is softmax; attention in tiles is attention, in a small part of the memory."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from explainers.attention import masks
from explainers.attention.online_softmax import read_row
from explainers.attention.scaled_dot_product import attention
from explainers.attention.tile_list import list_tiles
from explainers.attention.tiled import tile_cells, tiled_attention
from explainers.chapters.long_sequences.measurement import measure_peak
from tests.attention.test_attention import rounding
from tests.support.drawn import drawn

CPU = torch.device("cpu")
RULES = masks.RULES | {
    "window of 1": masks.sliding_window(1),
    "every third": masks.Rule(lambda query_pos, key_pos: (query_pos - key_pos) % 3 == 0),
    "the first, then none, then near": masks.causal
    & masks.Rule(lambda query_pos, key_pos: (key_pos < 1) | (query_pos - key_pos < 4)),
}
NOBODY = masks.Rule(lambda query_pos, key_pos: (query_pos != 57) & (key_pos >= 0))


@st.composite
def rows_of_scores(draw):
    """Scores (batch, q_len, kv_len), in each row at least one that is allowed; and values."""
    random = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    spread, length = draw(st.sampled_from((0.1, 3.0, 300.0))), draw(st.integers(1, 13))
    scores = spread * torch.randn(2, 3, length, generator=random)
    hidden = torch.rand(scores.shape, generator=random) < draw(st.floats(0, 1))
    hidden.scatter_(-1, torch.randint(length, (2, 3, 1), generator=random), False)
    value = torch.randn(2, length, 5, generator=random)
    return scores.masked_fill(hidden, -torch.inf), value, draw(st.integers(1, 15))


@settings(max_examples=150)
@given(rows_of_scores())
def test_after_each_block_it_is_softmax_of_what_was_read(given):
    scores, value, block = given
    steps = read_row(scores.double(), value.double(), block)
    assert len(steps) == -(-scores.shape[-1] // block)
    for n, step in enumerate(steps):
        seen = scores[..., : (n + 1) * block].double()
        some = seen.isfinite().any(dim=-1)  # the rows in which anything was allowed so far
        assert_close(
            step.output[some], (seen.softmax(-1) @ value[..., : seen.shape[-1], :].double())[some]
        )
        assert_close(step.largest[some], seen.amax(-1, keepdim=True)[some])
        assert_close(
            step.total[some].log() + step.largest[some], seen.logsumexp(-1, keepdim=True)[some]
        )
        assert (step.total[~some] == 0).all()


def tensors(dtype=torch.float32):
    return [drawn(2, 3, *axes).to(dtype) for axes in ((17, 11), (19, 11), (19, 4))]


@pytest.mark.parametrize("blocks", [(1, 1), (2, 5), (4, 3), (16, 18), (40, 50)], ids=str)
@pytest.mark.parametrize("rule", RULES)
def test_tiled_is_attention_under_every_rule(rule, blocks):
    query, key, value = tensors()
    mask = masks.build(RULES[rule], 17, 19)
    output = tiled_attention(query, key, value, RULES[rule], *blocks)
    whole = attention(query, key, value, mask)
    allowed = rounding(whole.scores, of=value.abs().max().item())
    assert_close(output, whole.output, atol=allowed, rtol=0)


def test_each_sequence_of_a_batch_has_its_own_mask_and_the_precision_it_is_given():
    query, key, value = tensors(torch.float64)
    rule = masks.causal & masks.padding(torch.tensor([19, 3]))
    output = tiled_attention(query, key, value, rule, 4, 3)
    expected = attention(query, key, value, masks.build(rule, 17, 19)).output
    assert_close(output, expected, atol=1e-14, rtol=0)


@pytest.mark.parametrize("rule", RULES)
def test_only_tiles_with_an_allowed_cell_are_computed(rule):
    """What is not a number in the others does not come into the output of the last queries."""
    query, key, value = tensors()
    cells, mask = tile_cells(RULES[rule], 17, 19, 4, 3), masks.build(RULES[rule], 17, 19)
    by_hand = [[part.sum() for part in rows.split(3, dim=1)] for rows in mask.split(4)]
    assert cells.tolist() == torch.tensor(by_hand).tolist()
    is_empty = tile_cells(RULES[rule], 4, 19, 4, 3)[0] == 0
    value[..., is_empty.repeat_interleave(3)[:19], :] = torch.nan
    assert tiled_attention(query[..., -4:, :], key, value, RULES[rule], 4, 3).isfinite().all()


def test_a_query_with_nothing_to_look_at_is_refused():
    """Position 57 of 71 is row 23 of the last 37."""
    query, key = torch.ones(37, 2), torch.ones(71, 2)
    with pytest.raises(ValueError, match="a query nothing to look at"):
        tiled_attention(query, key, key, NOBODY, 4, 3)
    with pytest.raises(ValueError, match=r"leaves row 23 \(of 37 queries\) nothing to look at"):
        list_tiles(NOBODY, 37, 71, 16, 32)


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ((0, 7, 1, 1), "0 queries cannot be the last of 7 positions"),
        ((8, 7, 1, 1), "8 queries cannot be the last of 7 positions"),
        ((5, 7, 0, 3), "a tile of 0 × 3 scores is empty"),
        ((5, 7, 3, -1), "a tile of 3 × -1 scores is empty"),
    ],
)
def test_sizes_that_cannot_be_are_named(sizes, said):
    with pytest.raises(ValueError, match=said):
        tile_cells(masks.full, *sizes)
    query, key = (torch.ones(length, 2) for length in sizes[:2])
    with pytest.raises(ValueError, match=said):
        tiled_attention(query, key, key, masks.full, *sizes[2:])


def peaks(n):
    """Bytes that plain and tiled attention hold at most besides what they are given."""
    query, key, value = (torch.randn(n, 11) for _ in range(3))
    mask = masks.build(masks.causal, n, n)
    plain = measure_peak(lambda: attention(query, key, value, mask), CPU)
    in_tiles = measure_peak(lambda: tiled_attention(query, key, value, masks.causal, 16, 32), CPU)
    return plain, in_tiles


def test_memory_grows_with_n_and_not_with_its_square():
    """Plain: three matrices of n² numbers. Tiled: what comes out, twice, and one tile's work."""
    (_, small), (plain, middle), (_, large) = (peaks(n) for n in (256, 512, 1024))
    output, positions = 4 * 512 * 11, 2 * 8 * 512
    assert plain == 3 * 4 * 512**2 + output
    assert 2 * output < middle < 2 * output + positions + 20 * 16 * 32
    assert large - middle == pytest.approx(2 * (middle - small), rel=0.01), "linear in n"


@pytest.mark.parametrize("rule", RULES)
def test_the_list_is_what_the_mask_says(rule):
    tiles = list_tiles(RULES[rule], 37, 71, 16, 32)
    mask = masks.build(RULES[rule], 37, 71)
    for block, rows in enumerate(mask.split(16)):
        parts = dict(enumerate(rows.split(32, dim=1)))
        whole = [j for j, part in parts.items() if part.all() and part.shape[1] == 32]
        cut = [j for j, part in parts.items() if part.any() and j not in whole]
        assert tiles.keys[block, : len(whole) + len(cut)].tolist() == whole + cut
        assert tiles.whole[block] == len(whole)
        assert tiles.cut[block] == len(cut)
        kept = tiles.allowed[int(tiles.first[block]) :]
        for part, known in zip((parts[j] for j in cut), kept, strict=False):
            assert (known[: len(rows), : part.shape[1]] == part).all()
            assert not known[:, part.shape[1] :].any()
    assert len(tiles.allowed) == tiles.cut.sum()
