"""Rows of a cache that become one, as in DeepSeek V4's own class; and its sizes."""

from typing import Any

import torch
from torch.testing import assert_close
from transformers import DeepseekV4Config, Gemma3nTextConfig
from transformers.models.deepseek_v4 import modeling_deepseek_v4 as deepseek

from explainers.attention.cache.compression import merge_rows
from explainers.chapters.shared_heads import cards
from explainers.memory.model_shapes import find_shape

HEAD_DIM, D_MODEL = 32, 24


@torch.no_grad()
def test_it_merges_as_the_model_does():
    sizes: dict[str, Any] = {"head_dim": HEAD_DIM, "qk_rope_head_dim": 8}
    config = DeepseekV4Config(hidden_size=D_MODEL, num_attention_heads=4, **sizes)
    theirs, seeded = deepseek.DeepseekV4HCACompressor(config).eval(), torch.Generator()
    theirs.position_bias.normal_(generator=seeded.manual_seed(3))
    width = theirs.compress_rate
    x = torch.randn(1, 2 * width + 5, D_MODEL, generator=seeded)
    places = torch.arange(x.shape[1])[None]
    expected, _bias = theirs(x, None, places, None, 0)
    rows, gate = theirs.kv_proj(x)[0], theirs.gate_proj(x)[0]
    _weights, merged = merge_rows(rows, gate, theirs.position_bias)
    beginnings = torch.arange(2)[None] * width
    cos, sin = theirs.rotary_emb(x, position_ids=beginnings, layer_type="compress")
    normed = theirs.kv_norm(merged)[None, None]
    ours = deepseek.apply_rotary_pos_emb(normed, cos, sin)
    assert_close(ours, expected, rtol=0, atol=1e-6 * expected.abs().max().item())


def test_the_sizes_are_those_of_the_classes():
    config, rates = DeepseekV4Config(), DeepseekV4Config().compress_rates or {}
    ratios = rates["compressed_sparse_attention"], rates["heavily_compressed_attention"]
    named = cards.name_rows(("The", "CEO", "announced", "record"), 3)
    assert (named["narrow"], named["wide"]) == ratios
    for group in find_shape(cards.AFTER).require_groups():
        assert group.ratio in (0, *ratios)
        dims = {"compressed": config.head_dim, "index": config.index_head_dim}
        assert group.head_dim == dims[group.kind]
    shared = Gemma3nTextConfig()
    assert shared.num_hidden_layers == cards.LAYERS
    assert shared.num_kv_shared_layers == cards.BORROWING
