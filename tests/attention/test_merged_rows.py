"""Rows of a cache that become one: DeepSeek V4's own class, and what must hold of any weights."""

from typing import Any

import pytest
import torch
from torch.testing import assert_close
from transformers import DeepseekV4Config, Gemma3nTextConfig
from transformers.models.deepseek_v4 import modeling_deepseek_v4 as deepseek

from explainers.attention.merged_rows import merge_rows, waiting_rows
from explainers.chapters.shared_heads import cards
from explainers.chapters.shared_heads.cards import name_rows
from explainers.chapters.shared_heads.compute import merge_words
from explainers.memory.cache_bytes import count_cache_bytes, count_extra_bytes, count_lasting_bytes
from explainers.memory.model_shapes import find_shape

HEAD_DIM, D_MODEL = 32, 24
WORDS = ["The", "CEO", "announced", "record", "earnings", "on", "Friday"]


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
    _weights, merged = merge_rows(
        theirs.kv_proj(x)[0], theirs.gate_proj(x)[0], theirs.position_bias
    )
    cos, sin = theirs.rotary_emb(
        x, position_ids=torch.arange(2)[None] * width, layer_type="compress"
    )
    normed = theirs.kv_norm(merged)[None, None]
    ours = deepseek.apply_rotary_pos_emb(normed, cos, sin)
    assert_close(ours, expected, rtol=0, atol=1e-6 * expected.abs().max().item())


@pytest.mark.parametrize(("length", "width"), [(7, 3), (8, 4), (2, 3), (9, 2)])
def test_a_merged_row_lies_among_its_words(length, width):
    seeded = torch.Generator().manual_seed(length)
    rows, gate = torch.randn(2, length, 5, generator=seeded)
    weights, merged = merge_rows(rows, gate, torch.randn(width, 5, generator=seeded))
    assert weights.shape == (length // width, width, 5)
    assert merged.shape == (length // width, 5)
    assert_close(weights.sum(dim=1), torch.ones(length // width, 5))
    whole = rows[: length - waiting_rows(length, width)].view(-1, width, 5)
    assert bool((merged <= whole.amax(dim=1)).all() & (merged >= whole.amin(dim=1)).all())


def test_equal_gates_give_the_mean():
    rows = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))
    _weights, merged = merge_rows(rows, torch.zeros(6, 5), torch.zeros(3, 5))
    assert_close(merged, rows.view(2, 3, 5).mean(dim=1))


def test_the_sizes_are_those_of_the_classes():
    config, rates = DeepseekV4Config(), DeepseekV4Config().compress_rates or {}
    ratios = rates["compressed_sparse_attention"], rates["heavily_compressed_attention"]
    named = name_rows(merge_words(tuple(WORDS), 3, 0))
    assert (named["narrow"], named["wide"]) == ratios
    for group in find_shape(cards.AFTER).require_groups():
        assert group.ratio in (0, *ratios)
        dims = {"compressed": config.head_dim, "index": config.index_head_dim}
        assert group.head_dim == dims[group.kind]
    shared = Gemma3nTextConfig()
    assert shared.num_hidden_layers == cards.LAYERS
    assert shared.num_kv_shared_layers == cards.BORROWING


def test_the_bytes_of_a_token_are_those_of_its_rows():
    """All rows of a long text, counted, divided by its words; the short window is nothing then."""
    words, shape = 2**20, find_shape(cards.AFTER)
    narrow, wide = words // 4 * (512 + 128), words // 128 * 512
    assert count_lasting_bytes(shape) == (21 * narrow + 20 * wide) * 2 / words
    longer = [
        count_cache_bytes(shape, length) + count_extra_bytes(shape, length)
        for length in (words, 2 * words)
    ]
    assert longer[1] - longer[0] == words * count_lasting_bytes(shape)
