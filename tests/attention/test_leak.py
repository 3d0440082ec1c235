"""Hiding before the softmax and after it: what a hidden score can still be felt by."""

import pytest
import torch
from torch.testing import assert_close

from explainers.attention import masks
from explainers.attention.scaled_dot_product import attention
from explainers.attention.steps import masked_after, masked_before

SCORES = torch.randn(3, 5, 7, generator=torch.Generator().manual_seed(0), dtype=torch.double)
CAUSAL = masks.build(masks.causal, 5, 7)


@pytest.mark.parametrize("rule", masks.RULES)
def test_before_is_what_attention_does(rule):
    mask = masks.build(masks.RULES[rule], 5, 7)
    identity = torch.eye(7, dtype=torch.double)
    key = SCORES.transpose(-2, -1) * 5**0.5  # so that each score is divided by √5 again
    query = torch.eye(5, dtype=torch.double)
    assert_close(masked_before(SCORES, mask), attention(query, key, identity, mask).weights)


def test_a_later_token_is_felt_only_where_it_is_hidden_too_late():
    changed = SCORES.clone()
    changed[:, 0, 6] += 3  # hidden from the first query, which stands at position 2
    assert torch.equal(masked_before(changed, CAUSAL), masked_before(SCORES, CAUSAL))
    felt = masked_after(changed, CAUSAL) - masked_after(SCORES, CAUSAL)
    assert (felt[:, 0, :3] < 0).all()
    assert (felt[:, 1:] == 0).all()


def test_what_is_hidden_too_late_is_missing_from_its_row():
    shown = masked_after(SCORES, CAUSAL)
    assert (shown[:, ~CAUSAL] == 0).all()
    hidden = (SCORES.softmax(dim=-1) * ~CAUSAL).sum(dim=-1)
    assert_close(shown.sum(dim=-1), 1 - hidden)
    assert (shown[:, :-1].sum(dim=-1) < 0.999).all()  # the last query sees all: nothing is missing
