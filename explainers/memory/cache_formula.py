"""Bytes as text, and the arithmetic of a cache's size, line by line.

>>> format_size(3 * 2**30)
'3.00 GiB'
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from functools import partial
from typing import Literal

from explainers.memory.cache_bytes import (
    BFLOAT16,
    GroupCache,
    NumberFormat,
    count_cache_bytes,
    count_token_bytes,
    find_format,
    list_group_caches,
)
from explainers.memory.model_shapes import LayerGroup, ModelShape
from explainers.messages import N_, Message, join_texts, ngettext

write_product = partial(join_texts, " × ")


def write_total(total: int) -> str:
    """A number of bytes, and the same in larger units."""
    return N_("{bytes:,} bytes = {size}", bytes=total, size=format_both_sizes(total))


UnitSystem = Literal["binary", "decimal"]
UNIT_STEPS: dict[UnitSystem, int] = {"binary": 1024, "decimal": 1000}
UNIT_NAMES: dict[UnitSystem, list[str]] = {
    "binary": ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"],
    "decimal": ["B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"],
}
UNIT_BYTES = {
    name: UNIT_STEPS[system] ** power
    for system in UNIT_STEPS
    for power, name in enumerate(UNIT_NAMES[system])
}
"""How many bytes each unit has."""


def format_size(count: int, system: UnitSystem = "binary") -> str:
    """Bytes in their unit: 1073741824 is `1.00 GiB` (binary) or `1.07 GB` (decimal)."""
    if abs(count) < UNIT_STEPS[system]:
        return N_("{count} byte", count=count) if count == 1 else N_("{count} bytes", count=count)
    for name in UNIT_NAMES[system][1:]:
        quotient = round_quotient(count, UNIT_BYTES[name])
        if abs(quotient) < UNIT_STEPS[system]:
            break
    return f"{quotient:,f} {name}"


def format_both_sizes(count: int) -> str:
    """Bytes in binary and in decimal units; once where both are the same."""
    if abs(count) < UNIT_STEPS["decimal"]:
        return format_size(count)
    return f"{format_size(count)} = {format_size(count, 'decimal')}"


def round_quotient(numerator: int, denominator: int, decimals: int = 2) -> Decimal:
    """A quotient of whole numbers, rounded to so many `decimals` without using floats."""
    with localcontext(prec=200):
        exact = Decimal(numerator) / Decimal(denominator)
        return exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_EVEN)


KIND_NAMES = {
    "full": N_("full attention"),
    "sliding": N_("sliding window"),
    "chunked": N_("chunks"),
    "latent": N_("latent (MLA)"),
    "compressed": N_("merged rows (CSA, HCA)"),
    "cross": N_("cross-attention"),
}

NO_CACHE = (N_("No layer keeps anything for the next token: 0 bytes."),)


@dataclass(frozen=True)
class ByteFormula:
    """A number of bytes, and the lines of arithmetic that lead to it."""

    size: int
    lines: tuple[str, ...]


def explain_cache(
    shape: ModelShape,
    tokens: int,
    batch: int = 1,
    dtype: str | NumberFormat = "bfloat16",
    *,
    source_tokens: int | None = None,
) -> ByteFormula:
    """The arithmetic of `count_cache_bytes`, group by group."""
    total = count_cache_bytes(shape, tokens, batch, dtype, source_tokens=source_tokens)
    lines, terms = [], []
    for cache in list_group_caches(shape, tokens, dtype, source_tokens):
        lines += explain_group(cache, tokens, find_format(dtype))
        terms.append(f"{cache.size:,}")
    if not terms:
        return ByteFormula(0, NO_CACHE)
    total_sum = join_texts(" + ", *terms)
    if batch > 1:
        total_sum = N_(
            "{texts} × ({sum})",
            texts=ngettext("{count:,} text", "{count:,} texts", batch),
            sum=total_sum,
        )
    if batch > 1 or len(terms) > 1:
        lines.append(N_("{sum} = {bytes:,} bytes", sum=total_sum, bytes=total))
    return ByteFormula(total, (*lines, write_total(total)))


def explain_group(cache: GroupCache, tokens: int, number_format: NumberFormat) -> list[str]:
    """The lines of one group of layers: what its window keeps, and the product of its sizes."""
    group, lines, window = cache.group, [], cache.group.window
    kept = write_rows(group, cache.tokens)
    newest_tokens = 0 if group.kind == "cross" else min(cache.tokens, number_format.residual)
    if group.ratio:
        line = N_(
            "min({tokens:,}, window {window:,}) + ⌊{tokens:,} ÷ {ratio}⌋ = {kept} kept",
            tokens=tokens,
            window=window,
            ratio=group.ratio,
            kept=kept,
        )
        lines.append(line)
    elif window is not None:
        line = N_(
            "min({tokens:,}, window {window:,}) = {kept} kept",
            tokens=tokens,
            window=window,
            kept=kept,
        )
        lines.append(line)
    layer_product = write_product(
        write_token_product(cache, number_format), write_rows(group, cache.tokens - newest_tokens)
    )
    if newest_tokens:
        layer_product = N_(
            "({older} + {each:,} bytes in 16 bits × the newest {tokens})",
            older=layer_product,
            each=count_token_bytes(group, BFLOAT16),
            tokens=ngettext("{count:,} token", "{count:,} tokens", newest_tokens),
        )
    layers = ngettext("{count:,} layer", "{count:,} layers", group.count)
    line = N_(
        "{kind}: {product} = {bytes:,} bytes",
        kind=Message(KIND_NAMES[group.kind], {}),
        product=write_product(layer_product, layers),
        bytes=cache.size,
    )
    return [*lines, line]


def write_rows(group: LayerGroup, count: int) -> str:
    """How many tokens are kept; rows where several tokens make one."""
    if group.ratio:
        return ngettext("{count:,} row", "{count:,} rows", count)
    return ngettext("{count:,} token", "{count:,} tokens", count)


def write_token_product(cache: GroupCache, number_format: NumberFormat) -> str:
    """The bytes of one token in one layer as a product, with the format's scales if it has any."""
    group = cache.group
    heads, head_dim = group.vectors[0]
    if group.kind == "latent":
        latent, rope = group.latent_dim, group.rope_dim
        elements = [N_("({latent} latent + {rotary} rotary)", latent=latent, rotary=rope)]
        two_vectors = list[str]()
    elif group.kind == "compressed":
        elements, two_vectors = [N_("{width} (K and V in one)", width=head_dim)], []
    else:
        elements = [ngettext("{count:,} KV head", "{count:,} KV heads", heads), f"{head_dim}"]
        two_vectors = [Message(N_("2 (K and V)"), {})]
    num_groups = number_format.count_groups(heads, head_dim)
    if num_groups * number_format.shared_bits % 8 or heads * head_dim * number_format.bits % 8:
        token_bytes = ngettext("{count:,} byte", "{count:,} bytes", cache.token_bytes)
        return N_("{bytes} of {bits} bits, filled up", bytes=token_bytes, bits=number_format.bits)
    bits = write_product(*elements, ngettext("{count:,} bit", "{count:,} bits", number_format.bits))
    if num_groups:
        scales = write_product(
            ngettext("{count:,} group", "{count:,} groups", num_groups),
            ngettext("{count:,} bit", "{count:,} bits", number_format.shared_bits),
        )
        elements_and_scales = Message("({bits} + {scales}) ÷ 8", {"bits": bits, "scales": scales})
        return write_product(*two_vectors, elements_and_scales)
    if number_format.bits % 8:
        return Message("{bits} ÷ 8", {"bits": write_product(*two_vectors, bits)})
    return write_product(
        *two_vectors,
        *elements,
        ngettext("{count:,} byte", "{count:,} bytes", number_format.bits // 8),
    )


def warn_beyond_context(shape: ModelShape, tokens: int) -> str:
    """A warning for a text longer than the model's published context, or an empty text."""
    if shape.context is None or tokens <= shape.context:
        return ""
    return N_(
        "{tokens:,} tokens is more than the {most:,} that {model} was published with: "
        "the arithmetic holds, the model may not.",
        tokens=tokens,
        most=shape.context,
        model=shape.id,
    )
