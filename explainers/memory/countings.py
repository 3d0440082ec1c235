"""One model, one text, several answers: which of them is meant must be said with the number."""

from explainers.memory.cache import headline_bytes, kv_cache_bytes_per_token
from explainers.memory.engines import ENGINES, LATENT_FP8, engine_bytes, engine_parts, is_packed
from explainers.memory.formats import format_of
from explainers.memory.groups import ModelShape
from explainers.memory.sizes import both
from explainers.memory.working import HOLDS, Working, cache_working, many, product_line

IDEAL, HEADLINE = "ideal minimum", "headline"
COUNTINGS = {
    IDEAL: "what must be kept at the least, by any engine",
    HEADLINE: "one rate times the tokens; windows and encoders forgotten",
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
    size = engine_bytes(shape, tokens, counting, batch, dtype, source_tokens)
    lines = []
    for part in engine_parts(shape, tokens, counting, dtype, source_tokens):
        lines.append(f"room for {many(part.tokens, 'token')} in each layer")
        if is_packed(counting, part.group, format_of(dtype)):
            product = f"{LATENT_FP8} bytes (fp8, scales, rotary part in 16 bits)"
            product += f" × {many(part.tokens, 'token')} × {many(part.group.count, 'layer')}"
            lines.append(f"{HOLDS[part.group.kind]}: {product} = {part.size:,} bytes")
        else:
            lines.append(product_line(part, format_of(dtype)))
    return Working(size, (*lines, *ending(size, batch)))


def headline(shape: ModelShape, tokens: int, batch: int, dtype: str) -> Working:
    """A rate, multiplied."""
    size, rate = headline_bytes(shape, tokens, batch, dtype), kv_cache_bytes_per_token(shape, dtype)
    line = f"{rate:,} bytes for each token × {many(tokens, 'token')}"
    line += f" × {many(batch, 'text')} = {size:,} bytes"
    return Working(size, (line, f"{size:,} bytes = {both(size)}"))


def ending(size: int, batch: int) -> tuple[str, ...]:
    """The sum over groups and texts, and its units."""
    together = f"together, for {many(batch, 'text')}: {size:,} bytes"
    return (together, f"{size:,} bytes = {both(size)}")
