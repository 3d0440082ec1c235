"""Each result's formula with the live numbers in it, to be followed with a pocket calculator."""

from dataclasses import dataclass

from explainers.memory.cache import Part, kv_cache_bytes, parts, token_bytes
from explainers.memory.formats import SIXTEEN, Format, format_of
from explainers.memory.groups import ModelShape
from explainers.memory.sizes import both

HOLDS = {
    "full": "full attention",
    "sliding": "sliding window",
    "chunked": "chunks",
    "latent": "latent (MLA)",
    "cross": "cross-attention",
}


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
        return Working(0, ("No layer keeps anything for the next token: 0 bytes.",))
    together = " + ".join(terms)
    if batch > 1:
        together = f"{batch:,} texts × ({together})"
    if batch > 1 or beams > 1 or len(terms) > 1:
        lines.append(f"{together} = {total:,} bytes")
    return Working(total, (*lines, f"{total:,} bytes = {both(total)}"))


def part_lines(part: Part, tokens: int, format_: Format) -> list[str]:
    """One group of layers: what it holds, and the product."""
    group, lines = part.group, []
    layers = f"{group.count} layers" if group.count > 1 else "1 layer"
    if group.window is not None:
        lines.append(f"min({tokens:,}, window {group.window:,}) = {part.tokens:,} tokens kept")
    newest = 0 if group.kind == "cross" else min(part.tokens, format_.residual)
    one = f"{per_token(part, format_)} × {part.tokens - newest:,} tokens"
    if newest:
        sixteen = token_bytes(group, SIXTEEN)
        one = f"({one} + {sixteen:,} bytes × {newest:,} newest tokens)"
    product = f"{one} × {layers} = {part.size:,} bytes"
    return [*lines, f"{HOLDS[group.kind]}: {product}"]


def per_token(part: Part, format_: Format) -> str:
    """What one layer keeps for one token, as the product it is, or in bytes where scales join."""
    group = part.group
    if format_.shared_bits or format_.bits % 8:
        return f"{part.token_bytes:,} bytes of {format_.name}, scales included"
    element = f"{format_.bits // 8} byte{'s' if format_.bits > 8 else ''}"
    if group.kind == "latent":
        return f"({group.latent_dim} latent + {group.rope_dim} rotary) × {element}"
    return f"2 (K and V) × {group.num_kv_heads} KV heads × {group.head_dim} × {element}"
