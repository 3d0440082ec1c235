"""The indexer is DeepSeek-V3.2's; what is kept is what is best; blocks, eviction and rounding.

Rows that become one, as in DeepSeek V4's own class; and its sizes.
"""

import itertools
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close
from transformers import DeepseekV4Config, DeepseekV32Config, Gemma3nTextConfig
from transformers.models.deepseek_v4 import modeling_deepseek_v4 as deepseek
from transformers.models.deepseek_v32.modeling_deepseek_v32 import DeepseekV32Indexer

from explainers.attention import masks
from explainers.attention.cache.compression import (
    merge_rows,
    round_in_channels,
    round_in_groups,
    round_in_tokens,
)
from explainers.attention.indexer import Indexer, index_scores, keep_best, project_index
from explainers.attention.rotary import angles
from explainers.attention.untrained_choice import choose_blocks, evict_least_read, score_blocks
from explainers.chapters.shared_heads import cards
from explainers.memory.model_shapes import find_shape
from tests.support.drawn import single

TOKENS, D_MODEL, HEADS, DIM, TURNED, KEPT = 60, 24, 12, 32, 16, 8
CAUSAL = masks.build(masks.causal, TOKENS, TOKENS)


def test_chooses_the_sets_of_transformers_deepseek_v32():
    """Its queries are made from x, too, so that x is all it reads."""
    sizes: dict[str, Any] = {"hidden_size": D_MODEL, "q_lora_rank": D_MODEL, "index_topk": KEPT}
    sizes |= {"num_attention_heads": HEADS, "index_n_heads": HEADS, "index_head_dim": DIM}
    torch.manual_seed(3)
    config = DeepseekV32Config(**sizes, qk_rope_head_dim=TURNED)
    theirs, x = DeepseekV32Indexer(config, 0).eval(), single(1, TOKENS, D_MODEL)
    theirs.k_norm.weight.data = 1 + 0.3 * single(DIM)
    theirs.k_norm.bias.data = 0.2 * single(DIM)
    angle = angles(torch.arange(TOKENS), TURNED, 10_000.0)
    turned = tuple(torch.cat([f(angle), f(angle)], -1)[None] for f in (torch.cos, torch.sin))
    chosen = theirs(x, x, turned, CAUSAL[None], None)[0].long()
    expected = torch.zeros(TOKENS, TOKENS, dtype=torch.bool).scatter(-1, chosen, True) & CAUSAL
    weights = theirs.wq_b, theirs.wk, theirs.weights_proj
    w_query, w_key, w_share = (layer.weight.detach().T for layer in weights)
    norm = theirs.k_norm.weight.detach(), theirs.k_norm.bias.detach()
    ours = project_index(x[0], Indexer(w_query, w_key, *norm, w_share), angle)
    assert torch.equal(keep_best(index_scores(*ours), KEPT, CAUSAL), expected)


@settings(max_examples=100)
@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 9))
def test_what_is_kept_is_largest_and_of_equal_scores_the_earlier(seed, kept, length):
    few = torch.randint(5, (2, length, length), generator=torch.Generator().manual_seed(seed))
    mask = masks.build(masks.causal, length, length)
    chosen = keep_best(few.float(), kept, mask)
    for text, row in itertools.product(range(2), range(length)):
        best = few[text, row, : row + 1].sort(descending=True, stable=True).indices[:kept]
        assert chosen[text, row].nonzero()[:, 0].equal(best.sort().values)


def test_what_fills_no_block_or_group_is_refused():
    with pytest.raises(ValueError, match="12 keys do not fill blocks of 5"):
        score_blocks(single(4, 5), single(12, 5), 5)
    with pytest.raises(ValueError, match="6 numbers do not fill groups of 4"):
        round_in_tokens(single(8, 6), 2, 4)


@pytest.mark.parametrize("keeps_first", [True, False])
def test_a_query_reads_its_own_block_and_the_best_of_the_others(keeps_first):
    scores = torch.tensor([0.0, 3.0, 2.0, 1.0]).expand(12, 4)
    chosen = choose_blocks(scores, 3, 2, keeps_first)
    own = torch.arange(12) // 3
    for token in range(12):
        other = 0 if keeps_first or own[token] < 2 else 1
        blocks = {int(own[token]), other} if own[token] else {0}
        expected = [int(key) // 3 in blocks and key <= token for key in range(12)]
        assert chosen[token].tolist() == expected


def evict_by_hand(scores, kept, newest):
    """The same with lists: rows of the cache as pairs of place and weight received."""
    cache: dict[int, float] = {}
    rows = []
    for now, row in enumerate(scores.tolist()):
        cache[now] = 0.0
        weights = torch.tensor([row[key] for key in cache]).double().softmax(0).tolist()
        for key, weight in zip([*cache], weights, strict=True):
            cache[key] += weight
        rows.append([key in cache for key in range(len(scores))])
        old = {key: got for key, got in cache.items() if key <= now - newest}
        if len(cache) == kept and old:
            del cache[min(old, key=lambda one: old[one])]
    return rows


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(3, 8), st.integers(1, 2))
def test_evicts_the_row_that_received_least(seed, kept, newest):
    scores = 3 * torch.randn(20, 20, generator=torch.Generator().manual_seed(seed))
    held = evict_least_read(scores.double(), kept, newest)
    assert held.tolist() == evict_by_hand(scores.double(), kept, newest)
    assert int(held.sum(-1).max()) == kept


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(1, 8))
def test_rounding_is_off_by_at_most_half_a_step(seed, bits):
    x = torch.randn(3, 8, generator=torch.Generator().manual_seed(seed)).double()
    rounded = round_in_groups(x, bits, 4)
    groups = x.unflatten(-1, (2, 4))
    step = (groups.amax(-1) - groups.amin(-1)) / (2**bits - 1)
    off = (rounded - x).abs().unflatten(-1, (2, 4)).amax(-1)
    assert (off <= step / 2 + 1e-9).all()
    assert len(rounded[0, :4].unique()) <= 2**bits
    assert_close(round_in_groups(rounded, bits, 4), rounded)


def test_channels_are_tokens_the_other_way_round():
    x = single(2, 8, 6)
    assert torch.equal(round_in_channels(x, 2, 4), round_in_tokens(x.mT, 2, 4).mT)
    loud = torch.cat([100 * torch.ones(8, 1), single(8, 3)], dim=1)
    off = [(way(loud, 2, 4) - loud).abs().mean() for way in (round_in_channels, round_in_tokens)]
    assert off[0] < off[1] / 5


HEAD_DIM = 32


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
    named = cards.name_merging_models()
    assert (named["narrow"], named["wide"]) == ratios
    for group in find_shape(cards.AFTER).require_groups():
        assert group.ratio in (0, *ratios)
        dims = {"compressed": config.head_dim, "index": config.index_head_dim}
        assert group.head_dim == dims[group.kind]
    shared = Gemma3nTextConfig()
    assert shared.num_hidden_layers == cards.LAYERS
    assert shared.num_kv_shared_layers == cards.BORROWING
