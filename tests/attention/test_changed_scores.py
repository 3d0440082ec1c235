"""Scores changed before the softmax, and gates: as in Gemma 2, GPT-OSS and Qwen3-Next."""

import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.testing import assert_close
from transformers.models.gemma2 import modeling_gemma2 as gemma2
from transformers.models.gpt_oss import modeling_gpt_oss as gpt_oss
from transformers.models.qwen3_next import modeling_qwen3_next as qwen3_next

from explainers.attention import masks
from explainers.attention.bounded_scores import (
    capped_attention,
    largest_normed_score,
    rms_norm,
    soft_cap,
)
from explainers.attention.rotary import rotate_halves
from explainers.attention.scaled_dot_product import attention
from explainers.attention.sinks_and_gates import apply_gate, attention_with_sinks, open_gate
from tests.support.drawn import drawn, single
from workshop.models.family_sizes import make_tiny_config

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


LENGTH, WIDTH, HEADS, HEAD_DIM = 12, 48, 6, 8
CAUSAL = masks.build(masks.causal, LENGTH, LENGTH)
ADDED = torch.zeros(1, 1, LENGTH, LENGTH).masked_fill(~CAUSAL, -torch.inf)


def shuffled(module):
    """The module with weights of its own, also where it begins with ones or zeros."""
    seeded = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weight in module.parameters():
            weight.copy_(torch.randn(weight.shape, generator=seeded) / weight.shape[-1] ** 0.5)
    return module.eval()


def by_head(x):
    return x.unflatten(-1, (-1, HEAD_DIM)).transpose(1, 2)


@torch.no_grad()
def test_gate_and_norm_are_those_of_qwen3_next():
    config: Any = make_tiny_config("qwen3_next", qwen3_next.Qwen3NextForCausalLM)
    config._attn_implementation = "eager"
    layer, x = shuffled(qwen3_next.Qwen3NextAttention(config, 3)), single(1, LENGTH, WIDTH)
    rope = qwen3_next.Qwen3NextRotaryEmbedding(config)
    turns = rope(x, torch.arange(LENGTH)[None])
    theirs = layer(x, turns, ADDED)[0]
    part, angle = turns[0].shape[-1], torch.arange(LENGTH)[:, None] * rope.inv_freq
    assert 0 < part < HEAD_DIM, "only a part of each head is turned"

    def turn(vectors):
        return torch.cat([rotate_halves(vectors[..., :part], angle), vectors[..., part:]], dim=-1)

    w_query, w_gate = layer.q_proj.weight.view(HEADS, 2, HEAD_DIM, WIDTH).unbind(dim=1)
    query = rms_norm(by_head(x @ w_query.flatten(0, 1).T), 1 + layer.q_norm.weight)
    key = rms_norm(by_head(layer.k_proj(x)), 1 + layer.k_norm.weight)
    value = by_head(layer.v_proj(x)).repeat_interleave(3, dim=1)
    output = (
        attention(turn(query), turn(key).repeat_interleave(3, dim=1), value, CAUSAL)
        .output.transpose(1, 2)
        .flatten(2)
    )
    gated = layer.o_proj(apply_gate(output, x, w_gate.flatten(0, 1).T))
    assert_close(gated, theirs, rtol=0, atol=1e-6 * theirs.abs().max().item())


def test_lengths_no_longer_count_and_no_score_is_beyond_the_bound():
    query, key = 30 * single(3, LENGTH, 11), single(3, LENGTH, 11)
    query_gain, key_gain = single(11), single(12)[:11]
    normed, key = rms_norm(query, query_gain), rms_norm(key, key_gain)
    assert_close(rms_norm(70 * query, query_gain), normed)
    scores = normed @ key.mT / math.sqrt(11)
    assert scores.abs().max() <= largest_normed_score(query_gain, key_gain)
    same = rms_norm(query, torch.ones(11))
    reached = (same @ same.mT / math.sqrt(11)).diagonal(dim1=-2, dim2=-1)
    expected = torch.full_like(reached, largest_normed_score(*torch.ones(2, 11)))
    assert_close(reached, expected, rtol=1e-4, atol=0)


def test_a_shut_gate_hands_over_nothing_and_an_open_one_everything():
    x, output = single(5, 13), single(5, 4)
    ways = torch.zeros(13, 4)
    assert_close(apply_gate(output, x, ways), output / 2)
    ways[:, 1], ways[:, 2] = 1e3 * x[0], -1e3 * x[0]
    assert_close(open_gate(x, ways)[0], torch.tensor([0.5, 1.0, 0.0, 0.5]))
    assert_close(apply_gate(output, x, ways)[0, 1:3], torch.tensor([output[0, 1], 0.0]))
