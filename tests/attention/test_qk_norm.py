"""QK-norm and the output gate: the attention of Qwen3-Next, and what each of them forbids."""

import math
from typing import Any

import torch
from torch.testing import assert_close
from transformers.models.qwen3_next import modeling_qwen3_next as qwen3_next

from explainers.attention import masks
from explainers.attention.bounded_scores import largest_normed_score, rms_norm
from explainers.attention.rotary import rotate_halves
from explainers.attention.scaled_dot_product import attention
from explainers.attention.sinks_and_gates import apply_gate, open_gate
from tests.support.drawn import single
from workshop.models.family_sizes import make_tiny_config

LENGTH, WIDTH, HEADS, HEAD_DIM = 12, 48, 6, 8
MASK = masks.build(masks.causal, LENGTH, LENGTH)
ADDED = torch.zeros(1, 1, LENGTH, LENGTH).masked_fill(~MASK, -torch.inf)


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
        attention(turn(query), turn(key).repeat_interleave(3, dim=1), value, MASK)
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
