"""Learned sinks: GPT-OSS's own attention, a sink that nobody uses, and one that takes all."""

from types import SimpleNamespace
from typing import Any

import torch
from torch.testing import assert_close
from transformers.models.gpt_oss.modeling_gpt_oss import eager_attention_forward

from explainers.attention import masks
from explainers.attention.scaled_dot_product import attention
from explainers.attention.sinks import attention_with_sinks

MASK = masks.build(masks.causal, 5, 7)


def drawn(*axes):
    return torch.randn(*axes, generator=torch.Generator().manual_seed(sum(axes)))


QUERY, KEY, VALUE = drawn(2, 3, 5, 11), drawn(2, 3, 7, 11), drawn(2, 3, 7, 4)


def test_agrees_with_transformers_gpt_oss():
    sink = drawn(3)
    gpt: Any = SimpleNamespace(num_key_value_groups=1, training=False, sinks=sink)
    hidden = torch.zeros(5, 7).masked_fill(~MASK, -torch.inf)
    theirs, weights = eager_attention_forward(gpt, QUERY, KEY, VALUE, hidden, scaling=11**-0.5)
    ours = attention_with_sinks(QUERY, KEY, VALUE, MASK, sink)
    assert_close(ours.weights, weights, rtol=0, atol=1e-6)
    assert_close(ours.output.transpose(1, 2), theirs, rtol=0, atol=1e-6 * theirs.abs().max().item())


def test_each_head_has_its_own_sink_and_it_takes_a_share_of_every_weight():
    sink = torch.tensor([-torch.inf, 1.0, 90.0])
    plain = attention(QUERY, KEY, VALUE, MASK).weights
    weights = attention_with_sinks(QUERY, KEY, VALUE, MASK, sink).weights
    kept = weights.sum(dim=-1, keepdim=True)
    assert_close(kept[:, 0], torch.ones(2, 5, 1))
    assert kept[:, 1].max() < 1
    assert kept[:, 2].max() < 1e-6
    assert_close(weights[:, 1], plain[:, 1] * kept[:, 1])
