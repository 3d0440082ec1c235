"""Each result's formula with the live numbers in it, to be followed with a pocket calculator."""

from dataclasses import dataclass

from explainers.memory.cache import Part, kv_cache_bytes, parts, token_bytes
from explainers.memory.formats import SIXTEEN, Format, format_of
from explainers.memory.groups import ModelShape
from explainers.memory.sizes import both
from explainers.phrase import phrase

HOLDS = {
    "full": phrase("full attention"),
    "sliding": phrase("sliding window"),
    "chunked": phrase("chunks"),
    "latent": phrase("latent (MLA)"),
    "cross": phrase("cross-attention"),
}

NOTHING = ("No layer keeps anything for the next token: 0 bytes.",)


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
        terms.append(f"{part.size:,}" if shared else f"{part.size:,} × {beams:,} beams")
    if not terms:
        return Working(0, NOTHING)
    together = " + ".join(terms)
    if batch > 1:
        together = f"{batch:,} texts × ({together})"
    if batch > 1 or beams > 1 or len(terms) > 1:
        lines.append(f"{together} = {total:,} bytes")
    return Working(total, (*lines, f"{total:,} bytes = {both(total)}"))


def part_lines(part: Part, tokens: int, format_: Format) -> list[str]:
    """One group of layers: what it holds, and the product."""
    group, lines = part.group, []
    if group.window is not None:
        kept = many(part.tokens, "token")
        lines.append(f"min({tokens:,}, window {group.window:,}) = {kept} kept")
    return [*lines, product_line(part, format_)]


def product_line(part: Part, format_: Format) -> str:
    """What all layers of a group hold, as one product."""
    group = part.group
    newest = 0 if group.kind == "cross" else min(part.tokens, format_.residual)
    one = f"{per_token(part, format_)} × {many(part.tokens - newest, 'token')}"
    if newest:
        sixteen = token_bytes(group, SIXTEEN)
        one = f"({one} + {sixteen:,} bytes in 16 bits × the newest {many(newest, 'token')})"
    product = f"{one} × {many(group.count, 'layer')} = {part.size:,} bytes"
    return f"{HOLDS[group.kind]}: {product}"


def per_token(part: Part, format_: Format) -> str:
    """What one layer keeps for one token: a product, with the scales where the format has some."""
    group = part.group
    heads, head_dim = group.vectors[0]
    if group.kind == "latent":
        times, elements = "", f"({group.latent_dim} latent + {group.rope_dim} rotary)"
    else:
        times, elements = "2 (K and V) × ", f"{many(heads, 'KV head')} × {head_dim}"
    groups = format_.groups(heads, head_dim)
    if groups * format_.shared_bits % 8 or heads * head_dim * format_.bits % 8:
        return f"{many(part.token_bytes, 'byte')} of {format_.bits} bits, filled up"
    if groups:
        bits = f"{elements} × {many(format_.bits, 'bit')}"
        scales = f"{many(groups, 'group')} × {many(format_.shared_bits, 'bit')}"
        return f"{times}({bits} + {scales}) ÷ 8"
    if format_.bits % 8:
        return f"{times}{elements} × {many(format_.bits, 'bit')} ÷ 8"
    return f"{times}{elements} × {many(format_.bits // 8, 'byte')}"


def many(number: int, noun: str) -> str:
    """1 layer, 2 layers."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


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
