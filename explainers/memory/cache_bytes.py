"""How many bytes the keys and values of a text need, in each format of numbers.

>>> from explainers.memory.model_shapes import find_shape
>>> count_cache_bytes(find_shape("llama-3.1-8b"), tokens=8192)  # 1 GiB
1073741824
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from explainers.memory.checked_fields import check_one_of, check_whole, shorten_value
from explainers.memory.model_shapes import LayerGroup, ModelShape
from explainers.messages import N_, InputError, Message


@dataclass(frozen=True)
class NumberFormat:
    """A number format: the bits of one element, and of what a group of elements shares."""

    name: str
    bits: int
    group: int | None = None
    shared_bits: int = 0
    per_head: bool = False
    residual: int = 0
    note: str = ""
    stored: int = 0
    """Bytes of all weights where their files say it, however many there are."""

    def __post_init__(self) -> None:
        check_whole("bits", self.bits)
        check_whole("residual", self.residual, 0)
        check_whole("shared_bits", self.shared_bits, 0)
        if self.group is not None:
            check_whole("group", self.group)

    def count_groups(self, heads: int, head_dim: int) -> int:
        """How many groups of elements, each with a scale, one vector has; a partial one counts."""
        if self.per_head:
            return heads
        return -(-heads * head_dim // self.group) if self.group else 0

    def count_vector_bytes(self, heads: int, head_dim: int) -> int:
        """Bytes of one token's keys (or values) in one layer, rounded up to whole ones."""
        shared = self.count_groups(heads, head_dim) * self.shared_bits
        return -(-heads * head_dim * self.bits // 8) + -(-shared // 8)

    def count_weight_bytes(self, parameters: int) -> int:
        """Bytes of so many weights; as many as `residual` says are kept in 16 bits."""
        if self.stored:
            return self.stored
        plain = min(self.residual, parameters)
        return self.count_vector_bytes(1, parameters - plain) + 2 * plain


BFLOAT16 = NumberFormat("bfloat16", 16)
SCALE_NOTE = N_("llama.cpp: blocks of 32 elements share a scale")
SCALE_AND_MINIMUM_NOTE = N_("llama.cpp: blocks of 32 elements share a scale and a minimum")
FORMATS = {
    number_format.name: number_format
    for number_format in [
        NumberFormat("float32", 32),
        BFLOAT16,
        NumberFormat("float16", 16),
        NumberFormat("fp8", 8, note=N_("one scale for a whole tensor, not counted")),
        NumberFormat("int8", 8, note=N_("one scale for a whole tensor, not counted")),
        NumberFormat(
            "fp8_per_head", 8, None, 32, True, note=N_("vLLM: a scale for each token and head")
        ),
        NumberFormat(
            "int8_per_head", 8, None, 32, True, note=N_("vLLM: a scale for each token and head")
        ),
        NumberFormat(
            "int4", 4, 64, 32, note=N_("groups of 64 share a 16-bit scale and zero point")
        ),
        NumberFormat(
            "int4_residual", 4, 64, 32, residual=128, note=N_("as int4; the newest 128 in 16 bits")
        ),
        NumberFormat(
            "int2_residual", 2, 32, 32, residual=128, note=N_("KIVI: scale and minimum of 32")
        ),
        NumberFormat("nvfp4", 4, 16, 8, note=N_("vLLM: an 8-bit scale for 16 elements")),
        NumberFormat(
            "mxfp4", 4, 32, 8, note=N_("weights of gpt-oss's experts: an 8-bit scale for 32")
        ),
        NumberFormat("q8_0", 8, 32, 16, note=SCALE_NOTE),
        NumberFormat("q5_1", 5, 32, 32, note=SCALE_AND_MINIMUM_NOTE),
        NumberFormat("q5_0", 5, 32, 16, note=SCALE_NOTE),
        NumberFormat("q4_1", 4, 32, 32, note=SCALE_AND_MINIMUM_NOTE),
        NumberFormat("q4_0", 4, 32, 16, note=SCALE_NOTE),
    ]
}


PACKED = re.compile(r"(\d{1,2})-bit(?: \+ (\d{1,3})/(\d{1,6}))?(?:, (\d{1,12}) × 16-bit)?")


UNKNOWN = "unknown: "
"""So begins the format of weights whose quantization is not known here, before its name."""
STORED_BYTES = re.compile(r"(\d+) bytes in its files")


def name_packed_format(bits: int, shared_bits: int, group: int | None, plain: int) -> str:
    """The name of a format of quantized weights: `4-bit + 20/128, 1000 × 16-bit` has 20 bits for
    each 128 weights, and leaves 1000 weights as they were."""
    scales = f" + {shared_bits}/{group}" if group else ""
    return f"{bits}-bit{scales}" + (f", {plain} × 16-bit" if plain else "")


def find_format(dtype: str | NumberFormat) -> NumberFormat:
    """The format of that name; a format is returned as it is."""
    if isinstance(dtype, NumberFormat):
        return dtype
    if isinstance(dtype, str) and (packed := PACKED.fullmatch(dtype)):
        bits, shared_bits, group, plain = (int(digits or 0) for digits in packed.groups())
        return NumberFormat(dtype, bits, group or None, shared_bits, residual=plain)
    if isinstance(dtype, str) and (stored := STORED_BYTES.fullmatch(dtype)):
        name = Message(N_("the formats of its files"), {})
        return NumberFormat(name, 8, stored=check_whole("bytes", int(stored[1])))
    check_one_of("dtype", dtype, FORMATS)
    return FORMATS[dtype]


@dataclass(frozen=True)
class GroupCache:
    """The cache of one group of layers for one text.

    `token_bytes` belong to one token in one layer, `size` is the bytes of all layers of the group.
    """

    group: LayerGroup
    tokens: int
    token_bytes: int
    size: int


def count_cache_bytes(
    shape: ModelShape,
    tokens: int,
    batch: int = 1,
    dtype: str | NumberFormat = "bfloat16",
    *,
    source_tokens: int | None = None,
) -> int:
    """Bytes of the keys, values and latents of `batch` texts of `tokens` tokens, without waste."""
    check_whole("batch", batch)
    return batch * sum(one.size for one in list_group_caches(shape, tokens, dtype, source_tokens))


def count_bytes_per_token(shape: ModelShape, dtype: str | NumberFormat = "bfloat16") -> int:
    """Bytes that one more token adds while no window is full; a full window adds nothing.

    Where tokens are merged, a row is added once for several of them: the mean, rounded down.
    """
    number_format = find_format(dtype)
    rates = (
        group.count * count_token_bytes(group, number_format) * (1 + count_share(group.ratio))
        for group in require_groups(shape)
        if group.kind != "cross"
    )
    return int(sum(rates))


def count_share(ratio: int) -> Fraction:
    """Which part of a merged row belongs to one token; nothing where none are merged."""
    return Fraction(1, ratio) if ratio else Fraction(0)


def count_lasting_bytes(shape: ModelShape) -> Fraction:
    """Bytes that a token of a long text adds, with its index: every window has long been full."""
    total = Fraction(0)
    for group in require_groups(shape):
        if group.kind == "cross" or (group.window is not None and not group.ratio):
            continue
        row_bytes = count_token_bytes(group, BFLOAT16) or count_index_bytes(group)
        total += group.count * row_bytes * (count_share(group.ratio) or 1)
    return total


def count_index_bytes(group: LayerGroup) -> int:
    """Bytes of one key of a sparse index, which has a format of its own; 0 for states."""
    return group.token_bytes or BFLOAT16.count_vector_bytes(1, group.head_dim)


def list_group_caches(
    shape: ModelShape,
    tokens: int,
    dtype: str | NumberFormat = "bfloat16",
    source_tokens: int | None = None,
) -> tuple[GroupCache, ...]:
    """The cache of each group of layers that keeps keys and values, in the model's order."""
    check_whole("tokens", tokens)
    number_format = find_format(dtype)
    caches = []
    for group in require_groups(shape):
        if group.vectors:
            kept_tokens = count_kept_tokens(shape, group, tokens, source_tokens)
            caches.append(make_group_cache(group, kept_tokens, number_format))
    return tuple(caches)


def require_groups(shape: ModelShape) -> tuple[LayerGroup, ...]:
    """The groups of layers of a shape; raises ValueError where they are not published."""
    if not isinstance(shape, ModelShape):
        raise InputError(
            "shape must be a ModelShape, as find_shape gives it, not {shape}",
            shape=shorten_value(shape),
        )
    return shape.require_groups()


def count_kept_tokens(
    shape: ModelShape, group: LayerGroup, tokens: int, source_tokens: int | None
) -> int:
    """How many rows a layer keeps: all tokens, its window, merged ones, or the source's."""
    if group.kind == "cross":
        return count_source_tokens(shape, source_tokens)
    return group.count_rows(tokens)


def count_source_tokens(shape: ModelShape, source_tokens: int | None) -> int:
    """How many tokens the encoder read: `source_tokens`, or else the most that it can read."""
    if source_tokens is None and shape.encoder_context is None:
        raise InputError(
            "{model}: source_tokens must be given (--source-tokens): how much its encoder "
            "read is not in the file",
            model=shape.id,
        )
    length = shape.encoder_context if source_tokens is None else source_tokens
    return check_whole("source_tokens", length, 0)


def make_group_cache(group: LayerGroup, tokens: int, number_format: NumberFormat) -> GroupCache:
    """The cache of one group for `tokens` tokens.

    Formats with a residual window keep the newest tokens in 16 bits.
    """
    newest_tokens = 0 if group.kind == "cross" else min(tokens, number_format.residual)
    bytes_per_token = count_token_bytes(group, number_format)
    layer_bytes = (tokens - newest_tokens) * bytes_per_token + newest_tokens * count_token_bytes(
        group, BFLOAT16
    )
    return GroupCache(group, tokens, bytes_per_token, group.count * layer_bytes)


def count_token_bytes(group: LayerGroup, number_format: NumberFormat) -> int:
    """Bytes that one layer keeps for one token: K and V, or one latent that serves as both."""
    return sum(
        number_format.count_vector_bytes(heads, head_dim) for heads, head_dim in group.vectors
    )


def count_extra_bytes(shape: ModelShape, tokens: int, batch: int = 1) -> int:
    """Bytes kept besides keys and values: recurrent states, and the keys of a sparse index."""
    check_whole("tokens", tokens)
    total = 0
    for group in require_groups(shape):
        layer_bytes = sum(
            state.elements * find_format(state.dtype).bits // 8 for state in group.state
        )
        if group.kind == "index":
            layer_bytes = group.count_rows(tokens) * count_index_bytes(group)
        total += group.count * layer_bytes
    return check_whole("batch", batch) * total


BLOCK_SIZE = 16
"""Tokens in a page of vLLM by default."""


def count_pages(tokens: int, block: int = BLOCK_SIZE) -> int:
    """How many pages of `block` tokens hold `tokens` tokens; the last may be almost empty."""
    return -(-check_whole("tokens", tokens, 0) // check_whole("block", block))


def count_paged_bytes(
    shape: ModelShape,
    tokens: int,
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
    return sum(cache.size for cache in paged_caches)


def list_layer_caches(
    shape: ModelShape, caches: tuple[GroupCache, ...]
) -> tuple[list[GroupCache], bool]:
    """A cache for each single layer, and whether their order is known or only their numbers.

    It is known where the published indices of the full layers fit two groups, full and windowed.
    """
    text_caches = [cache for cache in caches if cache.group.kind != "cross"]
    layers = [cache for cache in text_caches for _ in range(cache.group.count)]
    is_order_known = len(text_caches) == 1
    if sorted(cache.group.window is not None for cache in text_caches) == [False, True]:
        full, local = sorted(text_caches, key=lambda cache: cache.group.window is not None)
        published = shape.full_layers
        is_order_known = len(published) == full.group.count and max(published) < len(layers)
        if is_order_known:
            layers = [
                full if layer_index in shape.full_layers else local
                for layer_index in range(len(layers))
            ]
    cross_caches = [cache for cache in caches if cache.group.kind == "cross"]
    layers += [cache for cache in cross_caches for _ in range(cache.group.count)]
    return layers, is_order_known
