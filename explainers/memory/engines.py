"""How much memory engines allocate for a cache, and how they divide it between kinds of layers.

Read in SGLang's model_executor/pool_configurator.py, vLLM's models/deepseek_v4 and
kv_cache_interface.py, and llama.cpp's llama-kv-cache-dsv4.cpp, as they were in November 2026.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from explainers.memory.cache_bytes import (
    BLOCK_SIZE,
    NumberFormat,
    count_extra_bytes,
    count_pages,
    count_source_tokens,
    find_format,
    list_group_caches,
    make_group_cache,
)
from explainers.memory.checked_fields import check_one_of, check_whole
from explainers.memory.compact_layers import HEAVY, SPARSE
from explainers.memory.model_shapes import KINDS_WITH_WINDOW, LayerGroup, ModelShape
from explainers.memory.serving import (
    Deployment,
    count_text_bytes_per_gpu,
    count_weight_bytes_per_gpu,
)

LLAMA_CPP_STEP = 256
"""llama.cpp and whisper.cpp round every length up to a multiple of this."""
MICRO_BATCH = 512
"""Tokens that llama.cpp reads at once (n_ubatch), for which it adds slots to a window."""
TOKEN_BUDGET = 2048
"""Tokens that vLLM reads at once by default (max_num_batched_tokens)."""
PACKED_LATENT, PACKED_LATENT_BYTES = (512, 64), 656
"""vLLM's fp8_ds_mla: 512 in fp8, four scales in float32, 64 rotary elements in 16 bits."""
PACKED_ROW_WIDTH, PACKED_ROW_BYTES = 512, 584
"""The same for DeepSeek-V4's rows: 448 in fp8, 64 rotary ones in 16 bits, 8 bytes of scales."""
MERGED_PAGE = 256
"""Tokens in a page of merged rows."""


def count_engine_bytes(
    shape: ModelShape,
    tokens: int,
    engine: str,
    dtype: str | NumberFormat = "bfloat16",
    source_tokens: int | None = None,
) -> int:
    """Bytes that an engine takes from the GPU for a text; to it a beam is a text.

    Of merged rows, transformers alone is counted here: the others are in `ROW_COUNTS`.
    """
    check_one_of("engine", engine, ENGINES)
    check_whole("tokens", tokens)
    number_format, size = find_format(dtype), 0
    for group in shape.require_groups():
        if not group.vectors:
            continue
        text_tokens = count_source_tokens(shape, source_tokens) if group.kind == "cross" else tokens
        slots = ENGINES[engine](group, text_tokens)
        slots += text_tokens // group.ratio if group.ratio else 0
        is_packed = (group.latent_dim, group.rope_dim) == PACKED_LATENT  # no other sizes are known
        if engine == VLLM and number_format.name == "fp8" and is_packed:
            size += group.count * slots * PACKED_LATENT_BYTES
        else:
            size += make_group_cache(group, slots, number_format).size
    return size


def count_transformers_slots(group: LayerGroup, tokens: int) -> int:
    """Slots in one layer; a window of w holds w − 1 tokens between steps, then the new one."""
    return tokens if group.window is None else min(tokens, group.window - 1)


def round_up_slots(slots: int) -> int:
    """As llama.cpp does, to a multiple of 256."""
    return LLAMA_CPP_STEP * count_pages(slots, LLAMA_CPP_STEP)


def count_llama_cpp_slots(group: LayerGroup, tokens: int) -> int:
    """Slots in one layer; a window adds those of the tokens read at once."""
    newest = tokens if group.window is None else min(tokens, group.window + MICRO_BATCH)
    return round_up_slots(newest)


def count_vllm_slots(group: LayerGroup, tokens: int) -> int:
    """Slots in one layer, in whole pages; a window has one more, as it may begin inside a page."""
    if group.kind != "chunked" and group.window:
        return BLOCK_SIZE * count_window_blocks(group.window, tokens, BLOCK_SIZE)
    if group.window:
        return BLOCK_SIZE * count_pages(min(group.window + TOKEN_BUDGET, tokens))
    return BLOCK_SIZE * count_pages(tokens)


VLLM, SGLANG, LLAMA_CPP, TRANSFORMERS = "vLLM", "SGLang", "llama.cpp", "transformers"
ENGINES = {
    TRANSFORMERS: count_transformers_slots,
    LLAMA_CPP: count_llama_cpp_slots,
    VLLM: count_vllm_slots,
}
"""Inference engines: the slots that each allocates in a layer."""
STATE_SLOTS = 5
"""States that SGLang keeps for each text, with its usual way to reuse common beginnings."""
SGLANG_BUDGET = 8192
"""Tokens that SGLang shall read at once (--chunked-prefill-size): a window holds them as well."""
PACKED_KEY_WIDTH, PACKED_KEY_BYTES = 128, 132
"""An index key of DeepSeek-V4: 128 numbers in fp8, and a scale in 32 bits."""
WINDOW_BLOCK, ALIGNMENT = 64, 576
"""vLLM's blocks of a window beside merged rows; every page is filled up to so many bytes."""
FRACTION_STEPS = 1_000
"""SGLang's share of the memory is given with three decimals, rounded down."""
SPARE_RINGS = 3
"""Rings for waiting tokens that SGLang has beside those of the texts."""


def find_window_share(shape: ModelShape, tokens: int) -> Fraction | None:
    """Tokens in a layer with a window for each in a full one, in thousandths, rounded up.

    SGLang splits its memory so; None for models that do not have both.
    """
    windows = [group.window for group in shape.require_groups() if group.window]
    kinds = {group.kind for group in shape.require_groups()}
    is_split = "full" in kinds and not kinds.isdisjoint(KINDS_WITH_WINDOW)
    if not is_split and not merges_rows(shape):
        return None
    needed = min(tokens, max(windows) + SGLANG_BUDGET)
    return Fraction(math.ceil(Fraction(1_000 * needed, tokens)), 1_000)


def count_sglang_reserve(
    shape: ModelShape,
    tokens: int,
    dtype: str | NumberFormat = "bfloat16",
    source_tokens: int | None = None,
) -> int:
    """Bytes that SGLang sets aside for a text beyond the minimum: wider windows, more states."""
    share, size = find_window_share(shape, tokens) or 1, 0
    for cache in list_group_caches(shape, tokens, dtype, source_tokens):
        if cache.group.kind in KINDS_WITH_WINDOW:
            rows = max(0, math.ceil(tokens * share) - cache.tokens)
            size += cache.group.count * rows * cache.token_bytes
    states = tuple(group for group in shape.require_groups() if group.kind == "recurrent")
    return size + (STATE_SLOTS - 1) * count_extra_bytes(replace(shape, groups=states), tokens)


def merges_rows(shape: ModelShape) -> bool:
    """Whether layers merge several tokens into a row (DeepSeek-V4)."""
    return any(group.kind == "compressed" for group in shape.require_groups())


def has_packed_rows(shape: ModelShape) -> bool:
    """Whether vLLM and SGLang have a layout for its rows: known for DeepSeek's sizes only."""
    widths = {"compressed": PACKED_ROW_WIDTH, "index": PACKED_KEY_WIDTH}
    return all(
        group.head_dim == widths.get(group.kind) and group.ratio in (0, SPARSE, HEAVY)
        for group in shape.require_groups()
    )


def count_waiting_width(group: LayerGroup) -> int:
    """Numbers of a token that waits to be merged: a row and a gate, two of each that overlap."""
    return 2 * group.head_dim * (2 if group.ratio == SPARSE else 1)


def count_waiting_tokens(group: LayerGroup) -> int:
    """Tokens that are needed for the next row: those of the row before too where they overlap."""
    return group.ratio * (2 if group.ratio == SPARSE else 1)


def count_sglang_rate(shape: ModelShape, share: Fraction, state_bytes: int = 4) -> Fraction:
    """Bytes of each token: rows, keys, and the share of a window with the tokens that wait there.

    As the server prints it: `bytes_per_full_token`.
    """
    rate = Fraction(0)
    for group in shape.require_groups():
        row = PACKED_KEY_BYTES if group.kind == "index" else PACKED_ROW_BYTES
        window = share if group.kind == "compressed" else Fraction(0)
        one = row * (window + (Fraction(1, group.ratio) if group.ratio else 0))
        if group.ratio == SPARSE:  # others wait in rings, one for each text
            ring = Fraction(count_waiting_tokens(group), find_window(shape))
            one += share * ring * count_waiting_width(group) * state_bytes
        rate += group.count * one
    return rate


def count_sglang_rings(shape: ModelShape) -> int:
    """Bytes of the tokens of one text that wait for a row of many."""
    return sum(
        group.count * count_waiting_tokens(group) * count_waiting_width(group) * 4
        for group in shape.require_groups()
        if group.ratio == HEAVY
    )


def find_window(shape: ModelShape) -> int:
    """The window that stands beside merged rows."""
    return max(group.window or 0 for group in shape.require_groups())


def count_sglang_rows(shape: ModelShape, tokens: int, _dtype: str | NumberFormat) -> int:
    """Bytes of a text of merged rows in SGLang's pools."""
    share = find_window_share(shape, tokens) or Fraction(1)
    whole = MERGED_PAGE * count_pages(tokens, MERGED_PAGE)
    return math.ceil(whole * count_sglang_rate(shape, share)) + count_sglang_rings(shape)


def count_vllm_rows(shape: ModelShape, tokens: int, _dtype: str | NumberFormat) -> int:
    """Bytes of a text of merged rows in vLLM's pages; tokens that wait are windows of their own."""
    pages, size = count_pages(tokens, MERGED_PAGE), 0
    for group in shape.require_groups():
        is_index = group.kind == "index"
        row = PACKED_KEY_BYTES if is_index else PACKED_ROW_BYTES
        block = align(WINDOW_BLOCK * row)
        if not is_index:
            size += group.count * block * count_window_blocks(find_window(shape), tokens)
        if group.ratio:
            waiting = count_waiting_tokens(group)
            # Of as many bytes as a block: 4 tokens whose rows overlap, or 8.
            blocks = count_window_blocks(waiting, tokens, 4 if group.ratio == SPARSE else 8)
            merged = align(MERGED_PAGE // group.ratio * row)
            size += group.count * (pages * merged + blocks * block)
    return size


def count_window_blocks(window: int, tokens: int, block: int = WINDOW_BLOCK) -> int:
    """Blocks that a window may need while a text is read; it may begin inside one."""
    return count_pages(min(window - 1 + TOKEN_BUDGET, tokens), block) + 1


def align(size: int) -> int:
    """A page filled up to whole steps."""
    return ALIGNMENT * count_pages(size, ALIGNMENT)


def count_llama_cpp_rows(shape: ModelShape, tokens: int, dtype: str | NumberFormat) -> int:
    """Bytes of a text of merged rows in llama.cpp; what waits is in 32 bits."""
    size, number_format = 0, find_format(dtype)
    for group in shape.require_groups():
        row = number_format.count_vector_bytes(1, group.head_dim)
        slots = 0 if group.kind == "index" else count_llama_cpp_slots(group, tokens)
        if group.ratio:
            slots += round_up_slots(-(-round_up_slots(tokens) // group.ratio))
            size += group.count * 4 * count_waiting_tokens(group) * count_waiting_width(group)
        size += group.count * slots * row
    return size


CountRows = Callable[[ModelShape, int, str | NumberFormat], int]
ROW_COUNTS: dict[str, CountRows] = {
    VLLM: count_vllm_rows, SGLANG: count_sglang_rows, LLAMA_CPP: count_llama_cpp_rows,
}  # fmt: skip
"""Bytes of a text of merged rows, by engine; waiting tokens and keys are in them."""
PACKING_ENGINES = VLLM, SGLANG
"""By their usual layout, they keep such rows in fp8."""


def needs_packed_rows(deployment: Deployment, engine: str) -> bool:
    """Whether the engine keeps the rows of this model in fp8, by its usual layout."""
    return engine in PACKING_ENGINES and merges_rows(deployment.shape)


def round_static_share(deployment: Deployment) -> Fraction:
    """SGLang's share of the memory for weights and caches: what is usable less the overhead."""
    memory = deployment.gpu.memory_bytes
    usable = memory * deployment.percent // 100 - deployment.reserved
    return Fraction(FRACTION_STEPS * usable // memory, FRACTION_STEPS)


def count_engine_room(deployment: Deployment, engine: str) -> int:
    """Bytes on each GPU that an engine with these flags has for caches; below zero: none."""
    memory, weights = deployment.gpu.memory_bytes, count_weight_bytes_per_gpu(deployment)
    if engine == SGLANG:
        spare = SPARE_RINGS * count_sglang_rings(deployment.shape)
        return int(memory * round_static_share(deployment)) - weights - spare
    return memory * deployment.percent // 100 - weights - deployment.reserved


def count_engine_text(deployment: Deployment, engine: str, tokens: int) -> int:
    """Bytes of one text on one GPU, as the engine allocates them; never less than the minimum."""
    least, shape = count_text_bytes_per_gpu(deployment, tokens), deployment.shape
    dtype, source = deployment.cache_dtype, deployment.source_tokens
    if engine in ROW_COUNTS and merges_rows(shape):
        size = ROW_COUNTS[engine](shape, tokens, dtype)
        return max(least, -(-size // deployment.gpus) if engine == LLAMA_CPP else size)
    if engine == SGLANG:
        return least + count_sglang_reserve(deployment.part, tokens, dtype, source)
    if engine == VLLM:  # splits heads, others layers
        size = count_engine_bytes(deployment.part, tokens, engine, dtype, source)
        return max(least, size + count_extra_bytes(deployment.part, tokens))
    size = count_engine_bytes(shape, tokens, engine, dtype, source)
    return max(least, -(-(size + count_extra_bytes(shape, tokens)) // deployment.gpus))
