"""Shared beginnings, against texts whose blocks are written down and counted one by one."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from explainers.attention.serving.shared_prefix import name_blocks
from explainers.memory.model_shapes import find_shape
from explainers.memory.prefix_sharing import count_blocks, count_prefix_savings, list_kept_blocks

BLOCKS = st.sampled_from([1, 3, 4, 16])


def write_texts(tokens, prefixes):
    """Ids (tokens,) of each text: the common beginning, then numbers that no other text has."""
    common = torch.arange(tokens)
    texts = []
    for place, prefix in enumerate(prefixes):
        own = 1_000 * (place + 1) + torch.arange(tokens)
        texts.append(torch.where(torch.arange(tokens) < prefix, common, own))
    return texts


def enumerate_blocks(tokens, kept, prefixes, block):
    """All blocks that hold a token that is kept, by what is in them and before them."""
    names, count = set(), 0
    for place, ids in enumerate(write_texts(tokens, prefixes)):
        whole = name_blocks(ids, block)
        for number in range(-(-tokens // block)):
            if (number + 1) * block <= tokens - kept:
                continue  # every token of it has left the window
            count += 1
            names.add(whole[number] if number < len(whole) else ("begun", place))
    return count, len(names)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 70), st.integers(1, 70), st.lists(st.integers(0, 70), min_size=1), BLOCKS)
def test_blocks_are_those_that_are_counted_one_by_one(tokens, kept, prefixes, block):
    kept, prefixes = min(kept, tokens), [min(prefix, tokens - 1) for prefix in prefixes[:5]]
    expected = enumerate_blocks(tokens, kept, prefixes, block)
    assert count_blocks(tokens, kept, prefixes, block) == expected


def test_forty_users_of_one_prompt_written_out():
    savings = count_prefix_savings(find_shape("llama-3.1-8b"), 6_000, [5_000] * 40)
    assert (savings.blocks_alone, savings.blocks_shared) == (40 * 375, 312 + 40 * 63)
    assert savings.bytes_alone == 40 * 375 * 16 * 131_072
    assert savings.bytes_shared == (312 + 40 * 63) * 16 * 131_072
    changed = count_prefix_savings(find_shape("llama-3.1-8b"), 6_000, [5_000] * 39 + [99])
    assert changed.blocks_shared - savings.blocks_shared == 312 - 6


@pytest.mark.parametrize("prefixes", [[], [-1]])
def test_no_texts_and_negative_prefixes_are_refused(prefixes):
    with pytest.raises(ValueError, match="there must be a text"):
        count_prefix_savings(find_shape("llama-3.1-8b"), 100, prefixes)


def test_a_window_shares_only_what_it_still_keeps():
    gemma = find_shape("gemma-3-27b")
    full = next(group for group in gemma.require_groups() if not group.window)
    savings = count_prefix_savings(gemma, 8_192, [4_096] * 2)
    one = 2 * full.num_kv_heads * full.head_dim * 2 * 16 * full.count
    assert savings.bytes_alone - savings.bytes_shared == 4_096 // 16 * one
    assert list_kept_blocks(8_192, 1_024, 16) == range(448, 512)
    short = count_prefix_savings(gemma, 1_000, [512] * 2)
    assert short.bytes_alone - short.bytes_shared > 512 // 16 * one, "windows still hold it"


def test_what_an_encoder_read_is_not_shared():
    savings = count_prefix_savings(find_shape("whisper-tiny"), 64, [32] * 2, source_tokens=1_500)
    assert savings.bytes_alone - savings.bytes_shared == 32 * 2 * 384 * 2 * 4
