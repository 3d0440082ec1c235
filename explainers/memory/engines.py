"""How much memory inference engines allocate for a cache: in whole pages."""

from collections.abc import Callable
from dataclasses import dataclass

from explainers.memory.cache_bytes import (
    NumberFormat,
    count_source_tokens,
    find_format,
    list_group_caches,
    make_group_cache,
)
from explainers.memory.checked_fields import check_one_of, check_whole
from explainers.memory.model_shapes import LayerGroup, ModelShape

BLOCK_SIZE = 16
"""Tokens in a page of vLLM by default."""


def count_pages(tokens: int, block: int = BLOCK_SIZE) -> int:
    """How many pages of `block` tokens hold `tokens` tokens; the last may be almost empty."""
    return -(-check_whole("tokens", tokens, 0) // check_whole("block", block))


def count_paged_bytes(
    shape: ModelShape,
    tokens: int,
    batch: int = 1,
    dtype: str | NumberFormat = "bfloat16",
    *,
    block: int = BLOCK_SIZE,
    source_tokens: int | None = None,
) -> int:
    """As `count_cache_bytes`, with whole pages for every group of layers."""
    caches = list_group_caches(shape, tokens, dtype, source_tokens)
    number_format = find_format(dtype)
    paged_caches = (
        make_group_cache(cache.group, block * count_pages(cache.tokens, block), number_format)
        for cache in caches
    )
    return check_whole("batch", batch) * sum(cache.size for cache in paged_caches)


LLAMA_CPP_STEP = 256
"""llama.cpp and whisper.cpp round every length up to a multiple of this."""
MICRO_BATCH = 512
"""Tokens that llama.cpp reads at once (n_ubatch), for which it adds slots to a window."""
TOKEN_BUDGET = 2048
"""Tokens that vLLM reads at once by default (max_num_batched_tokens)."""
PACKED_LATENT_BYTES = 656
"""vLLM's fp8_ds_mla: 512 in fp8, four scales in float32, 64 rotary elements in 16 bits."""
PACKED_ROW_WIDTH, PACKED_ROW_BYTES = 512, 584
"""The same for DeepSeek-V4's rows: 448 in fp8, 64 rotary ones in 16 bits, 8 bytes of scales."""
MERGED_PAGE = 256
"""Tokens in a page of merged rows."""

PLAIN_FORMATS = ("float32", "bfloat16", "float16")
TRANSFORMERS_FORMATS = (*PLAIN_FORMATS, "int4_residual", "int2_residual")
"""The quantized cache of transformers keeps its newest tokens in 16 bits."""
LLAMA_CPP_FORMATS = (*PLAIN_FORMATS, "q8_0", "q5_1", "q5_0", "q4_1", "q4_0")
VLLM_FORMATS = (*PLAIN_FORMATS, "fp8", "fp8_per_head", "int8_per_head", "nvfp4")


@dataclass(frozen=True)
class Engine:
    """An inference engine: the slots it allocates in a layer, and its number formats."""

    count_slots: Callable[[LayerGroup, int], int]
    formats: tuple[str, ...]


def count_engine_bytes(
    shape: ModelShape,
    tokens: int,
    engine: str,
    batch: int = 1,
    dtype: str | NumberFormat = "bfloat16",
    source_tokens: int | None = None,
) -> int:
    """Bytes that an engine takes from the GPU for `batch` texts; to it a beam is a text."""
    check_one_of("engine", engine, ENGINES)
    check_whole("tokens", tokens)
    number_format, count_slots, size = find_format(dtype), ENGINES[engine].count_slots, 0
    for group in shape.require_groups():
        if not group.vectors:
            continue
        text_tokens = count_source_tokens(shape, source_tokens) if group.kind == "cross" else tokens
        slots = count_slots(group, text_tokens)
        if group.ratio:
            slots += count_merged_slots(engine, text_tokens, group.ratio)
        if is_packed(engine, group, number_format):
            row = PACKED_LATENT_BYTES if group.kind == "latent" else PACKED_ROW_BYTES
            size += group.count * slots * row
        else:
            size += make_group_cache(group, slots, number_format).size
    return check_whole("batch", batch) * size


def count_merged_slots(engine: str, tokens: int, ratio: int) -> int:
    """Slots of rows that `ratio` tokens share: for the text, or for all its pages."""
    if engine == "llama.cpp":  # as many as for all slots of the text
        slots = LLAMA_CPP_STEP * count_pages(tokens, LLAMA_CPP_STEP)
        return LLAMA_CPP_STEP * count_pages(-(-slots // ratio), LLAMA_CPP_STEP)
    if engine == "vLLM":
        return count_pages(tokens, MERGED_PAGE) * MERGED_PAGE // ratio
    return tokens // ratio


def count_transformers_slots(group: LayerGroup, tokens: int) -> int:
    """Slots in one layer; a window of w holds w − 1 tokens between steps, then the new one."""
    return tokens if group.window is None else min(tokens, group.window - 1)


def count_llama_cpp_slots(group: LayerGroup, tokens: int) -> int:
    """Slots in one layer, in steps of 256; a window adds those of the tokens read at once."""
    text_slots = LLAMA_CPP_STEP * count_pages(tokens, LLAMA_CPP_STEP)
    if group.window is None:
        return text_slots
    return min(text_slots, LLAMA_CPP_STEP * count_pages(group.window + MICRO_BATCH, LLAMA_CPP_STEP))


def count_vllm_slots(group: LayerGroup, tokens: int) -> int:
    """Slots in one layer, in whole pages; a window has one more, as it may begin inside a page."""
    if group.kind in ("sliding", "compressed") and group.window:
        return BLOCK_SIZE * (count_pages(min(group.window - 1 + TOKEN_BUDGET, tokens)) + 1)
    if group.kind == "chunked" and group.window:
        return BLOCK_SIZE * count_pages(min(group.window + TOKEN_BUDGET, tokens))
    return BLOCK_SIZE * count_pages(tokens)


def is_packed(engine: str, group: LayerGroup, number_format: NumberFormat) -> bool:
    """Whether vLLM stores it in an fp8 layout of its own, known for DeepSeek's sizes only."""
    has_deepseek_sizes = (group.latent_dim, group.rope_dim) == (512, 64) or (
        group.kind == "compressed" and group.head_dim == PACKED_ROW_WIDTH
    )
    return engine == "vLLM" and number_format.name == "fp8" and has_deepseek_sizes


ENGINES = {
    "transformers": Engine(count_transformers_slots, TRANSFORMERS_FORMATS),
    "llama.cpp": Engine(count_llama_cpp_slots, LLAMA_CPP_FORMATS),
    "vLLM": Engine(count_vllm_slots, VLLM_FORMATS),
}
