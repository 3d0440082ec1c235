"""Scores changed before the softmax: soft-capping as in Gemma 2, learned sinks as in GPT-OSS."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.testing import assert_close
from transformers.models.gemma2 import modeling_gemma2 as gemma2
from transformers.models.gpt_oss import modeling_gpt_oss as gpt_oss

from explainers.attention import masks
from explainers.attention.bounded_scores import capped_attention, soft_cap
from explainers.attention.sinks_and_gates import attention_with_sinks
from tests.support.drawn import drawn

MASK = masks.build(masks.causal, 5, 7)
QUERY, KEY, VALUE = (3 * drawn(2, 3, *axes).float() for axes in [(5, 11), (7, 11), (7, 4)])
PRODUCTS = QUERY @ KEY.mT / 11**0.5
SINK = drawn(3).float()
CAPPED = 2.5 * torch.tanh(PRODUCTS / 2.5)
CASES = {
    "Gemma 2": (gemma2, {}, {"softcap": 2.5}, capped_attention, 2.5, CAPPED),
    "GPT-OSS": (gpt_oss, {"sinks": SINK}, {}, attention_with_sinks, SINK, PRODUCTS),
}


@pytest.mark.parametrize(
    ("family", "own", "given", "attend", "changed_by", "scores"), CASES.values(), ids=CASES
)
def test_agrees_with_transformers(family, own, given, attend, changed_by, scores):
    layer: Any = SimpleNamespace(num_key_value_groups=1, training=False, **own)
    hidden = torch.zeros(5, 7).masked_fill(~MASK, -torch.inf)
    theirs, weights = family.eager_attention_forward(
        layer, QUERY, KEY, VALUE, hidden, scaling=11**-0.5, **given
    )
    ours = attend(QUERY, KEY, VALUE, MASK, changed_by)
    assert_close(ours.scores, scores)
    assert_close(ours.weights, weights, rtol=0, atol=1e-6)
    assert_close(ours.output.transpose(1, 2), theirs, rtol=0, atol=1e-6 * theirs.abs().max().item())


def test_a_cap_of_nothing_is_refused():
    with pytest.raises(ValueError, match="a cap of 0"):
        soft_cap(torch.ones(2, 2), 0)
