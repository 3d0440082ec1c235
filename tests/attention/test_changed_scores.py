"""Scores changed before the softmax: soft-capping as in Gemma 2, learned sinks as in GPT-OSS."""

import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.testing import assert_close
from transformers.models.gemma2 import modeling_gemma2 as gemma2
from transformers.models.gpt_oss import modeling_gpt_oss as gpt_oss

from explainers.attention import masks
from explainers.attention.bounded_scores import capped_attention, soft_cap
from explainers.attention.scaled_dot_product import attention
from explainers.attention.sinks_and_gates import attention_with_sinks
from tests.support.drawn import drawn

MASK = masks.build(masks.causal, 5, 7)
QUERY, KEY, VALUE = (3 * drawn(2, 3, *axes).float() for axes in [(5, 11), (7, 11), (7, 4)])
SINK = drawn(3).float()


@pytest.mark.parametrize(
    ("family", "own", "given", "attend", "changed_by"),
    [
        (gemma2, {}, {"softcap": 2.5}, capped_attention, 2.5),
        (gpt_oss, {"sinks": SINK}, {}, attention_with_sinks, SINK),
    ],
    ids=["Gemma 2", "GPT-OSS"],
)
def test_agrees_with_transformers(family, own, given, attend, changed_by):
    layer: Any = SimpleNamespace(num_key_value_groups=1, training=False, **own)
    hidden = torch.zeros(5, 7).masked_fill(~MASK, -torch.inf)
    theirs, weights = family.eager_attention_forward(
        layer, QUERY, KEY, VALUE, hidden, scaling=11**-0.5, **given
    )
    ours = attend(QUERY, KEY, VALUE, MASK, changed_by)
    assert_close(ours.weights, weights, rtol=0, atol=1e-6)
    assert_close(ours.output.transpose(1, 2), theirs, rtol=0, atol=1e-6 * theirs.abs().max().item())


def test_no_score_is_beyond_the_cap_and_no_weight_e_to_the_twice_of_another():
    scores, weights, _ = capped_attention(9 * QUERY, 9 * KEY, VALUE, MASK, 2.0)
    assert scores.abs().max() <= 2.0
    smallest = weights.masked_fill(~MASK, torch.inf).amin(dim=-1)
    assert (weights.amax(dim=-1) / smallest).max() <= math.exp(4.0) * (1 + 1e-5)


def test_a_cap_of_nothing_is_refused():
    with pytest.raises(ValueError, match="a cap of 0"):
        soft_cap(torch.ones(2, 2), 0)


def test_each_head_has_its_own_sink_and_it_takes_a_share_of_every_weight():
    sink = torch.tensor([-torch.inf, 1.0, 90.0])
    plain = attention(QUERY / 3, KEY / 3, VALUE, MASK).weights
    weights = attention_with_sinks(QUERY / 3, KEY / 3, VALUE, MASK, sink).weights
    kept = weights.sum(dim=-1, keepdim=True)
    assert_close(kept[:, 0], torch.ones(2, 5, 1))
    assert kept[:, 1].max() < 1
    assert kept[:, 2].max() < 1e-6
    assert_close(weights[:, 1], plain[:, 1] * kept[:, 1])
