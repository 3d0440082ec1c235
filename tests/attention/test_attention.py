"""One head of attention against torch's own, and against what must always be true."""

import re

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from explainers.attention import masks
from explainers.attention.scaled_dot_product import attention
from explainers.attention.single_head import SingleHead, single_head
from explainers.attention.steps import attention_steps, masked_after, masked_before
from tests.support.drawn import drawn

DTYPES = (torch.float32, torch.bfloat16)
MECHANISMS = (attention, attention_steps)


@st.composite
def inputs(draw):
    """Query, key, value and a mask of any shapes that fit, no two axes of one size."""
    axes = draw(st.lists(st.integers(1, 9), min_size=4, max_size=7, unique=True))
    q_len, kv_len, head_dim, value_dim, *leading = axes
    random = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    dtype, spread = draw(st.sampled_from(DTYPES)), draw(st.sampled_from((0.1, 1.0, 3.0)))

    def tensor(*axes):
        return (spread * torch.randn(*leading, *axes, generator=random)).to(dtype)

    # A mask may have all leading axes, some of size 1, or only the last of them.
    present = draw(st.integers(0, len(leading)))
    shape = [draw(st.sampled_from((1, size))) for size in leading[present:]]
    mask = torch.rand(*shape, q_len, kv_len, generator=random) < draw(st.floats(0, 1))
    one = torch.randint(kv_len, (*shape, q_len, 1), generator=random)
    mask = mask.scatter(-1, one, torch.tensor(True).expand(one.shape))
    return tensor(q_len, head_dim), tensor(kv_len, head_dim), tensor(kv_len, value_dim), mask


def rounding(scores, of=1.0):
    """How far two roundings of the same weights, or of averages of values up to `of`, may differ.

    A dtype rounds by a share u of the number. A score is rounded twice (product, root), which
    moves e^score by 2u|score|; a weight divides such a power by a total of such powers, 4u|score|;
    the power, the total, the weight and the average are rounded once each, 4u. Two computations
    may err in opposite directions.
    """
    u = torch.finfo(scores.dtype).eps / 2
    return 2 * u * (4 * scores.abs().max().item() + 4) * of


@settings(max_examples=150, report_multiple_bugs=False)
@given(inputs())
def test_agrees_with_torch_and_a_row_shares_out_exactly_the_allowed_pairs(tensors):
    query, key, value, mask = tensors
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    whole, steps = attention(*tensors), attention_steps(*tensors)
    # The same operations in the same order up to the softmax, so the same bits.
    assert torch.equal(steps.products, query @ key.mT)
    assert torch.equal(steps.scores, whole.scores)
    assert torch.equal(steps.masked, whole.scores.where(mask, -torch.inf))
    for run in (whole, steps):
        allowed = rounding(run.scores, of=value.abs().max().item())
        assert_close(run.output, expected, atol=allowed, rtol=0)
        weights = run.weights
        assert (weights >= 0).all()
        assert (weights.masked_select(~mask) == 0).all()
        total = weights.double().sum(dim=-1)
        # Each weight is rounded once, and so is each sum on the way to the total it is divided by.
        error = torch.finfo(weights.dtype).eps * mask.shape[-1]
        assert_close(total, torch.ones_like(total), atol=error, rtol=0)


@pytest.mark.parametrize("attend", MECHANISMS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_huge_scores_do_not_overflow(dtype, attend):
    query = torch.tensor([[100.0], [-100.0], [0.0]], dtype=dtype)
    key = torch.tensor([[-100.0], [50.0], [100.0], [100.0]], dtype=dtype)
    value = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]], dtype=dtype)
    run = attend(query, key, value, torch.ones(3, 4, dtype=torch.bool))
    assert run.scores.abs().max() == torch.tensor(1e4, dtype=dtype)
    shares = [[0, 0, 0.5, 0.5], [1, 0, 0, 0], [0.25, 0.25, 0.25, 0.25]]
    assert run.weights.tolist() == shares
    assert run.output.tolist() == [[6, 7], [1, 2], [4, 5]]


@pytest.mark.parametrize("rule", masks.RULES)
def test_what_is_hidden_too_late_has_its_share_and_is_missing_from_its_row(rule):
    scores, mask = drawn(3, 5, 7), masks.build(masks.RULES[rule], 5, 7)
    masked = scores.masked_fill(~mask, -torch.inf)
    assert_close(masked_before(scores, mask), F.softmax(masked, dim=-1), rtol=0, atol=0)
    assert_close(masked_after(scores, mask), F.softmax(scores, dim=-1) * mask, rtol=0, atol=0)


D_MODEL, HEAD_DIM, VALUE_DIM = 13, 11, 4
HEAD = SingleHead(drawn(D_MODEL, HEAD_DIM), drawn(D_MODEL, HEAD_DIM) - 1, drawn(D_MODEL, VALUE_DIM))


def test_a_head_agrees_with_torch():
    x, mask = drawn(2, 5, D_MODEL), masks.build(masks.causal, 5, 5)
    query, key, value = x @ HEAD.w_query, x @ HEAD.w_key, x @ HEAD.w_value
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    assert_close(single_head(x, HEAD, mask).output, expected)


def test_matrices_that_do_not_fit_are_refused_with_their_sizes():
    with pytest.raises(ValueError, match=re.escape("not (13, 11) and (13, 4)")):
        SingleHead(HEAD.w_query, HEAD.w_value, HEAD.w_value)
    with pytest.raises(ValueError, match="not 11 and 13"):
        SingleHead(HEAD.w_query, HEAD.w_key, drawn(HEAD_DIM, VALUE_DIM))
