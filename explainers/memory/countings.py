"""One model, one text, several answers: which of them is meant must be said with the number."""

from explainers.memory.cache import headline_bytes, kv_cache_bytes_per_token
from explainers.memory.engines import ENGINES, engine_bytes, engine_parts, is_packed
from explainers.memory.formats import format_of
from explainers.memory.groups import ModelShape
from explainers.memory.sizes import both
from explainers.memory.working import HOLDS, NOTHING, Working, cache_working, many, product_line
from explainers.phrase import phrase

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
        lines.append(
            f"{engine} makes room for {many(part.tokens, 'token')} in each of these layers"
        )
        if is_packed(engine, part.group, format_of(dtype)):
            product = f"{many(part.token_bytes, 'byte')} (packed) × {many(part.tokens, 'token')}"
            product += f" × {many(part.group.count, 'layer')} = {part.size:,} bytes"
            lines.append(f"{HOLDS[part.group.kind]}: {product}")
        else:
            lines.append(product_line(part, format_of(dtype)))
    if not found:
        return Working(0, NOTHING)
    together = " + ".join(f"{part.size:,}" for part in found)
    lines.append(f"{many(batch, 'text')} × ({together}) = {size:,} bytes")
    return Working(size, (*lines, f"{size:,} bytes = {both(size)}"))


def headline(shape: ModelShape, tokens: int, batch: int, dtype: str) -> Working:
    """A rate, multiplied."""
    size, rate = headline_bytes(shape, tokens, batch, dtype), kv_cache_bytes_per_token(shape, dtype)
    line = f"{rate:,} bytes for each token × {many(tokens, 'token')}"
    line += f" × {many(batch, 'text')} = {size:,} bytes"
    return Working(size, (line, f"{size:,} bytes = {both(size)}"))
