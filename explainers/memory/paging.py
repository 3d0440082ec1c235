"""Caches handed out in pages of a few tokens: and what rounding up wastes."""

from explainers.memory.cache import copies, kv_cache_bytes, part, parts
from explainers.memory.checks import whole
from explainers.memory.formats import Format, format_of
from explainers.memory.groups import ModelShape

BLOCK = 16
"""Tokens in a page of vLLM, unless one says otherwise."""


def pages(tokens: int, block: int = BLOCK) -> int:
    """How many pages so many tokens need; the last may be almost empty."""
    return -(-whole("tokens", tokens, 0) // whole("block", block))


def paged_bytes(
    shape: ModelShape,
    tokens: int,
    batch: int = 1,
    dtype: str | Format = "bfloat16",
    *,
    block: int = BLOCK,
    source_tokens: int | None = None,
    beams: int = 1,
) -> int:
    """As `kv_cache_bytes`, with whole pages for every beam and group of layers."""
    found = parts(shape, tokens, dtype, source_tokens)
    format_ = format_of(dtype)
    rounded = (part(p.group, block * pages(p.tokens, block), format_) for p in found)
    whole("beams", beams)
    return whole("batch", batch) * sum(p.size * copies(p.group, beams) for p in rounded)


def waste_bytes(
    shape: ModelShape,
    tokens: int,
    batch: int = 1,
    dtype: str | Format = "bfloat16",
    *,
    block: int = BLOCK,
    source_tokens: int | None = None,
    beams: int = 1,
) -> int:
    """What lies empty in the last pages: less than one page for each beam and layer."""
    paged = paged_bytes(
        shape, tokens, batch, dtype, block=block, source_tokens=source_tokens, beams=beams
    )
    return paged - kv_cache_bytes(
        shape, tokens, batch, dtype, source_tokens=source_tokens, beams=beams
    )
