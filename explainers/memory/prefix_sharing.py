"""What texts that begin alike save: their blocks are stored once (Kwon et al. 2023, 4.4)."""

from collections.abc import Sequence
from dataclasses import dataclass

from explainers.memory.cache_bytes import NumberFormat, count_kept_tokens, list_group_caches
from explainers.memory.checked_fields import check_whole
from explainers.memory.engines import BLOCK_SIZE
from explainers.memory.model_shapes import ModelShape
from explainers.messages import N_

SHARED_KINDS = ("full", "sliding", "chunked", "latent")
"""Layers whose rows depend on nothing but the tokens up to them."""


@dataclass(frozen=True)
class PrefixSavings:
    """Blocks and bytes of all texts: each alone, and with a common beginning stored once.

    `blocks` are those of one layer with full attention, `bytes` those of all layers.
    """

    blocks_alone: int
    blocks_shared: int
    bytes_alone: int
    bytes_shared: int


def list_kept_blocks(tokens: int, kept: int, block: int) -> range:
    """The blocks, by their numbers, that hold the newest `kept` of a text's tokens."""
    return range((tokens - kept) // block, -(-tokens // block))


def count_blocks(
    tokens: int, kept: int, prefixes: Sequence[int], block: int = BLOCK_SIZE
) -> tuple[int, int]:
    """Blocks of texts of `tokens` tokens: each alone, and with shared ones counted once.

    Text n has its first `prefixes[n]` tokens in common with a prompt that others have read; only
    whole blocks are shared, and only those that a layer still keeps.
    """
    own = list_kept_blocks(tokens, kept, block)
    shared = [max(0, min(prefix, tokens) // block - own.start) for prefix in prefixes]
    alone = len(own) * len(prefixes)
    return alone, alone - sum(shared) + max(shared, default=0)


def count_prefix_savings(
    shape: ModelShape,
    tokens: int,
    prefixes: Sequence[int],
    dtype: str | NumberFormat = "bfloat16",
    *,
    block: int = BLOCK_SIZE,
    source_tokens: int | None = None,
) -> PrefixSavings:
    """What texts of `tokens` tokens take, of which text n begins with `prefixes[n]` common ones."""
    check_whole("tokens", tokens)
    check_whole("block", block)
    if not prefixes or min(prefixes) < 0:
        raise ValueError(N_("there must be a text, and no prefix is shorter than 0 tokens"))
    bytes_alone = bytes_shared = 0
    for cache in list_group_caches(shape, tokens, dtype, source_tokens):
        group = cache.group
        kept = count_kept_tokens(shape, group, tokens, source_tokens)
        if group.kind in SHARED_KINDS:
            alone, shared = count_blocks(tokens, kept, prefixes, block)
        else:
            alone = shared = len(prefixes) * -(-kept // block)
        block_bytes = group.count * block * cache.token_bytes
        bytes_alone, bytes_shared = (
            bytes_alone + alone * block_bytes,
            bytes_shared + shared * block_bytes,
        )
    blocks = count_blocks(tokens, tokens, prefixes, block)
    return PrefixSavings(*blocks, bytes_alone, bytes_shared)


def count_reused_tokens(prefix: int, block: int = BLOCK_SIZE) -> int:
    """Tokens of a common beginning that need not be computed again: those of whole blocks."""
    return prefix // block * block
