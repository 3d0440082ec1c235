"""The formula of each result with its numbers, and the ways in which a cache is counted."""

from dataclasses import dataclass

from explainers.many import many
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
from explainers.phrase import Phrase, phrase

HOLDS = {
    "full": phrase("full attention"),
    "sliding": phrase("sliding window"),
    "chunked": phrase("chunks"),
    "latent": phrase("latent (MLA)"),
    "cross": phrase("cross-attention"),
}

NOTHING = (phrase("No layer keeps anything for the next token: 0 bytes."),)


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
        terms.append(size if shared else phrase("{size} × {beams:,} beams", size=size, beams=beams))
    if not terms:
        return Working(0, NOTHING)
    together = added(terms)
    if batch > 1:
        together = phrase("{texts} × ({sum})", texts=many(batch, "text"), sum=together)
    if batch > 1 or beams > 1 or len(terms) > 1:
        lines.append(phrase("{sum} = {bytes:,} bytes", sum=together, bytes=total))
    return Working(total, (*lines, in_both(total)))


def part_lines(part: Part, tokens: int, format_: Format) -> list[str]:
    """One group of layers: what it holds, and the product."""
    group, lines = part.group, []
    if group.window is not None:
        kept, window = many(part.tokens, "token"), group.window
        line = phrase(
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
    one = times(per_token(part, format_), many(part.tokens - newest, "token"))
    if newest:
        one = phrase(
            "({older} + {each:,} bytes in 16 bits × the newest {tokens})",
            older=one,
            each=token_bytes(group, SIXTEEN),
            tokens=many(newest, "token"),
        )
    return of_kind(part, times(one, many(group.count, "layer")))


def of_kind(part: Part, product: str) -> str:
    """A line: what kind of layers it is about, and how many bytes these hold."""
    return phrase(
        "{kind}: {product} = {bytes:,} bytes",
        kind=Phrase(HOLDS[part.group.kind], {}),
        product=product,
        bytes=part.size,
    )


def per_token(part: Part, format_: Format) -> str:
    """What one layer keeps for one token: a product, with the scales where the format has some."""
    group = part.group
    heads, head_dim = group.vectors[0]
    if group.kind == "latent":
        latent, rotary = group.latent_dim, group.rope_dim
        elements = [phrase("({latent} latent + {rotary} rotary)", latent=latent, rotary=rotary)]
        keys_and_values = []
    else:
        elements = [many(heads, "KV head"), f"{head_dim}"]
        keys_and_values = [Phrase(phrase("2 (K and V)"), {})]
    groups = format_.groups(heads, head_dim)
    if groups * format_.shared_bits % 8 or heads * head_dim * format_.bits % 8:
        bytes_ = many(part.token_bytes, "byte")
        return phrase("{bytes} of {bits} bits, filled up", bytes=bytes_, bits=format_.bits)
    bits = times(*elements, many(format_.bits, "bit"))
    if groups:
        scales = times(many(groups, "group"), many(format_.shared_bits, "bit"))
        both_ = Phrase("({bits} + {scales}) ÷ 8", {"bits": bits, "scales": scales})
        return times(*keys_and_values, both_)
    if format_.bits % 8:
        return Phrase("{bits} ÷ 8", {"bits": times(*keys_and_values, bits)})
    return times(*keys_and_values, *elements, many(format_.bits // 8, "byte"))


def context_note(shape: ModelShape, tokens: int) -> str:
    """What to say of a text that the model was not made for; nothing if it is short enough."""
    if shape.context is None or tokens <= shape.context:
        return ""
    return phrase(
        "{tokens:,} tokens is more than the {most:,} that {model} was published with: "
        "the arithmetic holds, the model may not.",
        tokens=tokens,
        most=shape.context,
        model=shape.id,
    )


IDEAL, HEADLINE = phrase("ideal minimum"), phrase("headline")
COUNTINGS = {
    IDEAL: phrase("what must be kept at the least, by any engine"),
    HEADLINE: phrase("one rate times the tokens; windows and encoders forgotten"),
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
        tokens_, layers = many(part.tokens, "token"), many(part.group.count, "layer")
        room = phrase(
            "{engine} makes room for {tokens} in each of these layers",
            engine=Phrase(engine, {}),
            tokens=tokens_,
        )
        lines.append(room)
        if is_packed(engine, part.group, format_of(dtype)):
            packed = phrase("{bytes} (packed)", bytes=many(part.token_bytes, "byte"))
            lines.append(of_kind(part, times(packed, tokens_, layers)))
        else:
            lines.append(product_line(part, format_of(dtype)))
    if not found:
        return Working(0, NOTHING)
    together = " + ".join(f"{part.size:,}" for part in found)
    product = phrase("{texts} × ({sum})", texts=many(batch, "text"), sum=together)
    lines.append(phrase("{sum} = {bytes:,} bytes", sum=product, bytes=size))
    return Working(size, (*lines, in_both(size)))


def headline(shape: ModelShape, tokens: int, batch: int, dtype: str) -> Working:
    """A rate, multiplied."""
    size, rate = headline_bytes(shape, tokens, batch, dtype), kv_cache_bytes_per_token(shape, dtype)
    each = phrase("{rate:,} bytes for each token", rate=rate)
    product = times(each, many(tokens, "token"), many(batch, "text"))
    line = phrase("{sum} = {bytes:,} bytes", sum=product, bytes=size)
    return Working(size, (line, in_both(size)))
