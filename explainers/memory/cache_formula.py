"""The arithmetic of a cache's size, line by line."""

from dataclasses import dataclass

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
from explainers.memory.sizes import write_product, write_sum, write_total
from explainers.messages import N_, Message, ngettext

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
    total_sum = write_sum(terms)
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
    return [*lines, write_group_product(cache, number_format)]


def write_rows(group: LayerGroup, count: int) -> str:
    """How many tokens are kept; rows where several tokens make one."""
    if group.ratio:
        return ngettext("{count:,} row", "{count:,} rows", count)
    return ngettext("{count:,} token", "{count:,} tokens", count)


def write_group_product(cache: GroupCache, number_format: NumberFormat) -> str:
    """The bytes of all layers of a group, written as one product."""
    group = cache.group
    newest_tokens = 0 if group.kind == "cross" else min(cache.tokens, number_format.residual)
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
    return write_kind_line(
        cache,
        write_product(layer_product, ngettext("{count:,} layer", "{count:,} layers", group.count)),
    )


def write_kind_line(cache: GroupCache, product: str) -> str:
    """A line that names the kind of layers, the product and the bytes it comes to."""
    return N_(
        "{kind}: {product} = {bytes:,} bytes",
        kind=Message(KIND_NAMES[cache.group.kind], {}),
        product=product,
        bytes=cache.size,
    )


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
