"""What inference engines allocate for a cache: pages, rounded up, and their waste."""

from collections.abc import Callable
from dataclasses import dataclass

from explainers.memory.cache_bytes import Part, copies, encoder_tokens, kv_cache_bytes, part, parts
from explainers.memory.layer_groups import LayerGroup, ModelShape
from explainers.memory.number_formats import Format, format_of
from explainers.memory.sizes import whole
from explainers.messages import N_

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


CELLS = 256
"""llama.cpp and whisper.cpp round every length up to a multiple of this."""
MICRO_BATCH = 512
"""Tokens that llama.cpp reads at once (n_ubatch): room beside a window for the next ones."""
TOKEN_BUDGET = 2048
"""Tokens that vLLM reads at once (max_num_batched_tokens), unless one says otherwise."""
LATENT_FP8 = 656
"""vLLM's fp8_ds_mla: 512 in fp8, four scales in float32, 64 rotary elements in 16 bits."""

UNPACKED = ("float32", "bfloat16", "float16")
QUANTO = (*UNPACKED, "int4_residual", "int2_residual")
"""The quantized cache of transformers keeps its newest tokens in 16 bits."""
BLOCKS = (*UNPACKED, "q8_0", "q5_1", "q5_0", "q4_1", "q4_0")
VLLM = (*UNPACKED, "fp8", "fp8_per_head", "int8_per_head", "nvfp4")


@dataclass(frozen=True)
class Engine:
    """An engine, for how many tokens it makes room in one layer, and in which formats."""

    name: str
    room: Callable[[LayerGroup, int], int]
    note: str
    formats: tuple[str, ...]


def engine_bytes(
    shape: ModelShape,
    tokens: int,
    engine: str,
    batch: int = 1,
    dtype: str | Format = "bfloat16",
    source_tokens: int | None = None,
) -> int:
    """What the engine of that name takes from the GPU for `batch` texts; beams are texts to it."""
    found = engine_parts(shape, tokens, engine, dtype, source_tokens)
    return whole("batch", batch) * sum(p.size for p in found)


def engine_parts(
    shape: ModelShape,
    tokens: int,
    engine: str,
    dtype: str | Format = "bfloat16",
    source_tokens: int | None = None,
) -> tuple[Part, ...]:
    """What each group of layers takes for one text; `tokens` of a part are those with room."""
    if engine not in ENGINES:
        raise ValueError(
            N_(
                "engine must be one of {engines}, not {engine!r}",
                engines=", ".join(ENGINES),
                engine=engine,
            )
        )
    whole("tokens", tokens)
    format_, room = format_of(dtype), ENGINES[engine].room
    found = []
    for group in shape.known_groups():
        if not group.vectors:
            continue
        length = encoder_tokens(shape, source_tokens) if group.kind == "cross" else tokens
        kept = room(group, length)
        if is_packed(engine, group, format_):
            found.append(Part(group, kept, LATENT_FP8, group.count * kept * LATENT_FP8))
        else:
            found.append(part(group, kept, format_))
    return tuple(found)


def is_packed(engine: str, group: LayerGroup, format_: Format) -> bool:
    """Whether vLLM stores this latent in its own fp8 layout, known for DeepSeek's sizes only."""
    deepseek = (group.latent_dim, group.rope_dim) == (512, 64)
    return engine.startswith("vLLM") and format_.name == "fp8" and deepseek


def stores(counting: str, dtype: str) -> bool:
    """Whether a cache in this format exists there; a counting that is no engine takes any."""
    return counting not in ENGINES or dtype in ENGINES[counting].formats


def transformers_room(group: LayerGroup, tokens: int) -> int:
    """Between two steps a window of w holds w − 1 tokens: the new one is the w-th."""
    return tokens if group.window is None else min(tokens, group.window - 1)


def llama_cpp_room(group: LayerGroup, tokens: int) -> int:
    """Cells in steps of 256; a window has room for the tokens that are read with it at once."""
    full = CELLS * pages(tokens, CELLS)
    if group.window is None:
        return full
    return min(full, CELLS * pages(group.window + MICRO_BATCH, CELLS))


def vllm_room(group: LayerGroup, tokens: int) -> int:
    """Whole pages; a window has one more, since it may begin inside a page."""
    if group.kind == "sliding" and group.window:
        return BLOCK * (pages(min(group.window - 1 + TOKEN_BUDGET, tokens)) + 1)
    if group.kind == "chunked" and group.window:
        return BLOCK * pages(min(group.window + TOKEN_BUDGET, tokens))
    return BLOCK * pages(tokens)


def vllm_full_room(group: LayerGroup, tokens: int) -> int:
    """The hybrid cache manager switched off: a window saves time and no memory."""
    return BLOCK * pages(tokens)


PAGED = N_("pages of {block} tokens, {budget:,} read at once", block=BLOCK, budget=TOKEN_BUDGET)
ENGINES = {
    engine.name: engine
    for engine in [
        Engine("transformers", transformers_room, N_("DynamicCache: grows with the text"), QUANTO),
        Engine("llama.cpp", llama_cpp_room, N_("for the whole context when it starts"), BLOCKS),
        Engine("vLLM", vllm_room, PAGED, VLLM),
        Engine(
            N_("vLLM, windows off"),
            vllm_full_room,
            N_("pages; every layer charged in full"),
            VLLM,
        ),
    ]
}
