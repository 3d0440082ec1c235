"""One model, one text, several answers: which of them is meant must be said with the number."""

from explainers.many import many
from explainers.memory.cache import headline_bytes, kv_cache_bytes_per_token
from explainers.memory.engines import ENGINES, engine_bytes, engine_parts, is_packed
from explainers.memory.formats import format_of
from explainers.memory.groups import ModelShape
from explainers.memory.terms import in_both, times
from explainers.memory.working import NOTHING, Working, cache_working, of_kind, product_line
from explainers.phrase import Phrase, phrase

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
