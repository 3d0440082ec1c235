"""MLA: absorbed is written out, and both are what transformers' DeepSeek-V3 computes."""

import re
from dataclasses import fields, replace
from typing import Any

import pytest
import torch
from torch.testing import assert_close
from transformers import DeepseekV3Config
from transformers.models.deepseek_v3.modeling_deepseek_v3 import (
    DeepseekV3Attention,
    DeepseekV3RotaryEmbedding,
)

from explainers.attention import masks
from explainers.attention.latent import absorbed, compress, latent_attention
from explainers.attention.latent_layer import Latent
from explainers.attention.rotary import angles
from tests.support.drawn import drawn

HEADS, HEAD_DIM, LATENT_DIM, ROPE_DIM, D_MODEL = 3, 10, 7, 4, 13


def scaled(*axes):
    return drawn(*axes) / axes[0] ** 0.5


LAYER = Latent(
    w_query=scaled(D_MODEL, HEADS * HEAD_DIM),
    w_rotary_query=scaled(D_MODEL, HEADS * ROPE_DIM),
    w_down=scaled(D_MODEL, LATENT_DIM),
    gain=scaled(1, LATENT_DIM)[0],
    w_up_key=scaled(LATENT_DIM, HEADS * HEAD_DIM),
    w_up_value=scaled(LATENT_DIM, HEADS * HEAD_DIM) + 0.1,
    w_rotary_key=scaled(D_MODEL, ROPE_DIM),
    w_output=scaled(HEADS * HEAD_DIM, D_MODEL),
    head_dim=HEAD_DIM,
)
X = scaled(2, 5, D_MODEL)
BASE = 100.0


def turned(start):
    return angles(torch.arange(start, start + 5, dtype=torch.double), ROPE_DIM, BASE)


def deepseek():
    """The model's own layer with our weights, which it stores transposed and head by head."""
    sizes: dict[str, Any] = {"hidden_size": D_MODEL, "num_attention_heads": HEADS}
    sizes |= {"num_key_value_heads": HEADS, "q_lora_rank": None, "kv_lora_rank": LATENT_DIM}
    sizes |= {"qk_nope_head_dim": HEAD_DIM, "qk_rope_head_dim": ROPE_DIM, "v_head_dim": HEAD_DIM}
    rope = {"rope_type": "default", "rope_theta": BASE}
    config = DeepseekV3Config(**sizes, rope_parameters=rope)

    def beside(one, other):
        """Both parts of head 0, both parts of head 1, …"""
        parts = [w.unflatten(-1, (HEADS, -1)) for w in (one, other)]
        return torch.cat(parts, dim=-1).flatten(-2).T

    theirs = DeepseekV3Attention(config, layer_idx=0).double()
    assert theirs.q_proj is not None
    with torch.no_grad():
        theirs.q_proj.weight.copy_(beside(LAYER.w_query, LAYER.w_rotary_query))
        theirs.kv_a_proj_with_mqa.weight.copy_(torch.cat([LAYER.w_down.T, LAYER.w_rotary_key.T]))
        theirs.kv_a_layernorm.weight.copy_(LAYER.gain)
        theirs.kv_b_proj.weight.copy_(beside(LAYER.w_up_key, LAYER.w_up_value))
        theirs.o_proj.weight.copy_(LAYER.w_output.T)
    return theirs, DeepseekV3RotaryEmbedding(config)


@pytest.mark.parametrize("rule", masks.RULES)
def test_agrees_with_transformers_deepseek_v3_and_absorbed_is_written_out(rule):
    mask = masks.build(masks.RULES[rule], 5, 5)
    layer, places = deepseek()
    hidden = torch.zeros(5, 5, dtype=torch.double).masked_fill(~mask, -torch.inf)
    with torch.no_grad():
        position = places(X, torch.arange(3, 8)[None])
        output, weights = layer(X, position, hidden[None, None])[:2]
    run = latent_attention(X, LAYER, mask, turned(3))
    assert_close(absorbed(X, LAYER, mask, turned(3))._asdict(), run._asdict())
    # Their norm and their softmax are in single precision.
    assert_close(run.weights, weights, rtol=1e-5, atol=1e-6)
    assert_close(run.output, output, rtol=1e-5, atol=1e-6)


def test_the_latent_is_normalised_whatever_the_size_of_x():
    plain = replace(LAYER, gain=torch.ones_like(LAYER.gain))
    latent = compress(1000 * X, plain, turned(0)).latent
    assert_close(latent.square().mean(dim=-1), torch.ones(2, 5, dtype=torch.double))
    assert compress(0 * X, plain, turned(0)).latent.tolist() == (0 * latent).tolist()


@pytest.mark.parametrize("field", [field.name for field in fields(Latent)][1:-1])
def test_what_does_not_fit_is_refused_by_its_name(field):
    given = getattr(LAYER, field)[:-1]
    shape = re.escape(str(tuple(given.shape)))
    with pytest.raises(ValueError, match=f"{field} must be .* not {shape}"):
        replace(LAYER, **{field: given})
    with pytest.raises(ValueError, match="30 columns cannot be cut into query heads of d_k 7"):
        replace(LAYER, head_dim=7)
