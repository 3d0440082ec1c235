"""The formula of each result with its numbers, and the ways in which a cache is counted."""

from dataclasses import dataclass

from explainers.memory.cache_bytes import (
    Part,
    headline_bytes,
    kv_cache_bytes,
    kv_cache_bytes_per_token,
    parts,
    token_bytes,
)
from explainers.memory.engines import ENGINES, engine_bytes, engine_parts, is_packed
from explainers.memory.layer_groups import ModelShape
from explainers.memory.number_formats import SIXTEEN, Format, format_of
from explainers.memory.sizes import added, in_both, times
from explainers.messages import N_, Message, ngettext

HOLDS = {
    "full": N_("full attention"),
    "sliding": N_("sliding window"),
    "chunked": N_("chunks"),
    "latent": N_("latent (MLA)"),
    "cross": N_("cross-attention"),
}

NOTHING = (N_("No layer keeps anything for the next token: 0 bytes."),)


@dataclass(frozen=True)
class Working:
    """A number of bytes, and lines that multiply and add up to it."""

    size: int
    lines: tuple[str, ...]


def cache_working(
    shape: ModelShape,
    tokens: int,
    batch: int = 1,
    dtype: str | Format = "bfloat16",
    *,
    source_tokens: int | None = None,
    beams: int = 1,
) -> Working:
    """`kv_cache_bytes`, group by group."""
    total = kv_cache_bytes(shape, tokens, batch, dtype, source_tokens=source_tokens, beams=beams)
    lines, terms = [], []
    for part in parts(shape, tokens, dtype, source_tokens):
        lines += part_lines(part, tokens, format_of(dtype))
        shared = part.group.kind == "cross" or beams == 1
        size = f"{part.size:,}"
        terms.append(size if shared else N_("{size} × {beams:,} beams", size=size, beams=beams))
    if not terms:
        return Working(0, NOTHING)
    together = added(terms)
    if batch > 1:
        together = N_(
            "{texts} × ({sum})",
            texts=ngettext("{count:,} text", "{count:,} texts", batch),
            sum=together,
        )
    if batch > 1 or beams > 1 or len(terms) > 1:
        lines.append(N_("{sum} = {bytes:,} bytes", sum=together, bytes=total))
    return Working(total, (*lines, in_both(total)))


def part_lines(part: Part, tokens: int, format_: Format) -> list[str]:
    """One group of layers: what it holds, and the product."""
    group, lines = part.group, []
    if group.window is not None:
        kept, window = ngettext("{count:,} token", "{count:,} tokens", part.tokens), group.window
        line = N_(
            "min({tokens:,}, window {window:,}) = {kept} kept",
            tokens=tokens,
            window=window,
            kept=kept,
        )
        lines.append(line)
    return [*lines, product_line(part, format_)]


def product_line(part: Part, format_: Format) -> str:
    """What all layers of a group hold, as one product."""
    group = part.group
    newest = 0 if group.kind == "cross" else min(part.tokens, format_.residual)
    one = times(
        per_token(part, format_),
        ngettext("{count:,} token", "{count:,} tokens", part.tokens - newest),
    )
    if newest:
        one = N_(
            "({older} + {each:,} bytes in 16 bits × the newest {tokens})",
            older=one,
            each=token_bytes(group, SIXTEEN),
            tokens=ngettext("{count:,} token", "{count:,} tokens", newest),
        )
    return of_kind(part, times(one, ngettext("{count:,} layer", "{count:,} layers", group.count)))


def of_kind(part: Part, product: str) -> str:
    """A line: what kind of layers it is about, and how many bytes these hold."""
    return N_(
        "{kind}: {product} = {bytes:,} bytes",
        kind=Message(HOLDS[part.group.kind], {}),
        product=product,
        bytes=part.size,
    )


def per_token(part: Part, format_: Format) -> str:
    """What one layer keeps for one token: a product, with the scales where the format has some."""
    group = part.group
    heads, head_dim = group.vectors[0]
    if group.kind == "latent":
        latent, rotary = group.latent_dim, group.rope_dim
        elements = [N_("({latent} latent + {rotary} rotary)", latent=latent, rotary=rotary)]
        keys_and_values = []
    else:
        elements = [ngettext("{count:,} KV head", "{count:,} KV heads", heads), f"{head_dim}"]
        keys_and_values = [Message(N_("2 (K and V)"), {})]
    groups = format_.groups(heads, head_dim)
    if groups * format_.shared_bits % 8 or heads * head_dim * format_.bits % 8:
        bytes_ = ngettext("{count:,} byte", "{count:,} bytes", part.token_bytes)
        return N_("{bytes} of {bits} bits, filled up", bytes=bytes_, bits=format_.bits)
    bits = times(*elements, ngettext("{count:,} bit", "{count:,} bits", format_.bits))
    if groups:
        scales = times(
            ngettext("{count:,} group", "{count:,} groups", groups),
            ngettext("{count:,} bit", "{count:,} bits", format_.shared_bits),
        )
        both_ = Message("({bits} + {scales}) ÷ 8", {"bits": bits, "scales": scales})
        return times(*keys_and_values, both_)
    if format_.bits % 8:
        return Message("{bits} ÷ 8", {"bits": times(*keys_and_values, bits)})
    return times(
        *keys_and_values,
        *elements,
        ngettext("{count:,} byte", "{count:,} bytes", format_.bits // 8),
    )


def context_note(shape: ModelShape, tokens: int) -> str:
    """What to say of a text that the model was not made for; nothing if it is short enough."""
    if shape.context is None or tokens <= shape.context:
        return ""
    return N_(
        "{tokens:,} tokens is more than the {most:,} that {model} was published with: "
        "the arithmetic holds, the model may not.",
        tokens=tokens,
        most=shape.context,
        model=shape.id,
    )


IDEAL, HEADLINE = N_("ideal minimum"), N_("headline")
COUNTINGS = {
    IDEAL: N_("what must be kept at the least, by any engine"),
    HEADLINE: N_("one rate times the tokens; windows and encoders forgotten"),
    **{name: engine.note for name, engine in ENGINES.items()},
}
"""name: what it counts."""


def counted(
    shape: ModelShape,
    tokens: int,
    counting: str = IDEAL,
    batch: int = 1,
    dtype: str = "bfloat16",
    source_tokens: int | None = None,
) -> Working:
    """The bytes by one of the countings, with the lines that lead to them."""
    if counting == IDEAL:
        return cache_working(shape, tokens, batch, dtype, source_tokens=source_tokens)
    if counting == HEADLINE:
        return headline(shape, tokens, batch, dtype)
    return allocated(shape, tokens, counting, batch, dtype, source_tokens)


def allocated(
    shape: ModelShape,
    tokens: int,
    engine: str,
    batch: int,
    dtype: str,
    source_tokens: int | None,
) -> Working:
    """`engine_bytes`, group by group."""
    found = engine_parts(shape, tokens, engine, dtype, source_tokens)
    size = engine_bytes(shape, tokens, engine, batch, dtype, source_tokens)
    lines = []
    for part in found:
        tokens_, layers = (
            ngettext("{count:,} token", "{count:,} tokens", part.tokens),
            ngettext("{count:,} layer", "{count:,} layers", part.group.count),
        )
        room = N_(
            "{engine} makes room for {tokens} in each of these layers",
            engine=Message(engine, {}),
            tokens=tokens_,
        )
        lines.append(room)
        if is_packed(engine, part.group, format_of(dtype)):
            packed = N_(
                "{bytes} (packed)",
                bytes=ngettext("{count:,} byte", "{count:,} bytes", part.token_bytes),
            )
            lines.append(of_kind(part, times(packed, tokens_, layers)))
        else:
            lines.append(product_line(part, format_of(dtype)))
    if not found:
        return Working(0, NOTHING)
    together = " + ".join(f"{part.size:,}" for part in found)
    product = N_(
        "{texts} × ({sum})",
        texts=ngettext("{count:,} text", "{count:,} texts", batch),
        sum=together,
    )
    lines.append(N_("{sum} = {bytes:,} bytes", sum=product, bytes=size))
    return Working(size, (*lines, in_both(size)))


def headline(shape: ModelShape, tokens: int, batch: int, dtype: str) -> Working:
    """A rate, multiplied."""
    size, rate = headline_bytes(shape, tokens, batch, dtype), kv_cache_bytes_per_token(shape, dtype)
    each = N_("{rate:,} bytes for each token", rate=rate)
    product = times(
        each,
        ngettext("{count:,} token", "{count:,} tokens", tokens),
        ngettext("{count:,} text", "{count:,} texts", batch),
    )
    line = N_("{sum} = {bytes:,} bytes", sum=product, bytes=size)
    return Working(size, (line, in_both(size)))
