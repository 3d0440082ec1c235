"""Up to six models in one picture over the length of a text, with the memory of the GPUs."""

from explainers.chapters.cache_memory.choose_cache import Chosen
from explainers.chapters.cache_memory.gpu_fit import Hardware
from explainers.chapters.common.number_words import keep_units_together
from explainers.memory.cache_bytes import count_bytes_per_token, count_cache_bytes
from explainers.memory.model_shapes import ModelShape, find_shape, list_model_ids
from explainers.memory.sizes import format_both_sizes, format_size
from explainers.messages import N_, ngettext
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import show_chart
from explainers.ui.page import Prose
from explainers.ui.predict import revealed

LENGTHS = (1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 262_144, 524_288, 1_048_576)
TICKS = LENGTHS[::2]
SMALL, LARGE, QUESTION = "llama-3.1-8b", "deepseek-v3", 131_072
# A sentence that changed with the models would have the browser build the picture anew.
ALT = N_(
    "Bytes of the caches of the chosen models over the tokens of a text, and the memory of the "
    "GPUs as a line; both axes are logarithmic. The table below names the models and their bytes."
)
WITHOUT_ENCODER = 1_500
"""Tokens of the other text where a model's encoder has no limit: what Whisper reads."""


def size_of(shape: ModelShape, tokens: int, texts: int, dtype: str) -> int:
    """The ideal minimum; an encoder reads as much as it can."""
    source = shape.encoder_context or WITHOUT_ENCODER
    return count_cache_bytes(shape, tokens, texts, dtype, source_tokens=source)


def comparable() -> list[str]:
    """The models that keep a cache, as far as it is known what."""
    shapes = map(find_shape, list_model_ids())
    return [shape.id for shape in shapes if shape.groups]


def show_comparison(text: Prose, asked: Chosen, hardware: Hardware) -> None:
    """Guess which of two needs more, then see any six."""
    text("compare")
    small, large = (size_of(find_shape(name), QUESTION, 1, "bfloat16") for name in (SMALL, LARGE))
    if revealed(
        text,
        "compare",
        (SMALL, LARGE),
        SMALL if small > large else LARGE,
        tokens=f"{QUESTION:,}",
        small=format_both_sizes(small),
        large=format_both_sizes(large),
    ):
        show_six(text, asked, hardware)
        text("noticed")


def show_six(text: Prose, asked: Chosen, hardware: Hardware) -> None:
    """The models that the reader chooses, as lines and as a table."""
    chosen = [find_shape(name) for name in controls.compared_models(comparable())]
    if not chosen:
        text("compare_none")
        return
    draw(chosen, asked.texts, asked.dtype, hardware)
    of_text = asked.tokens, asked.texts, asked.dtype
    rows = "\n".join(row_of(shape, *of_text) for shape in chosen)
    tokens, texts = (
        _(ngettext("{count:,} token", "{count:,} tokens", asked.tokens)),
        _(ngettext("{count:,} text", "{count:,} texts", asked.texts)),
    )
    text("compared", rows=rows, tokens=tokens, texts=texts, dtype=asked.dtype)


def row_of(shape: ModelShape, tokens: int, texts: int, dtype: str) -> str:
    """A model's line of the table."""
    rate = count_bytes_per_token(shape, dtype)
    held = size_of(shape, tokens, texts, dtype)
    following = size_of(shape, tokens + 1, 1, dtype) - size_of(shape, tokens, 1, dtype)
    exactly = _("{count:,} bytes", count=held)
    amounts = (
        f"{rate:,} / {following:,} | {keep_units_together(format_both_sizes(held))} ({exactly})"
    )
    return f"| {shape.id} ({_(shape.attention)}) | {amounts} |"


def draw(chosen: list[ModelShape], texts: int, dtype: str, hardware: Hardware) -> None:
    """The picture; a cache that outgrows the memory of all GPUs crosses the line."""
    import pandas as pd

    from explainers.charts.bars import make_storable
    from explainers.charts.curves import draw_growth

    rows = []
    for place, shape in enumerate(chosen):
        for tokens in LENGTHS:
            held = size_of(shape, tokens, texts, dtype)
            rows.append((shape.id, place, tokens, held, held / 2**30, False))
    memory, name = hardware.gpus * hardware.gpu.memory_bytes, hardware.gpu.name
    line = _(
        "memory of {count} × {gpu}: {size}", count=hardware.gpus, gpu=name, size=format_size(memory)
    )
    ends = LENGTHS[0], LENGTHS[-1]
    rows += [(line, len(chosen), end, memory, memory / 2**30, True) for end in ends]
    table = pd.DataFrame(rows, columns=["model", "place", "tokens", "bytes", "gib", "limit"])
    table = table.assign(bytes=make_storable([row[3] for row in rows]))
    origin = _("formula: ideal minimum for {texts:,} × {dtype}, exact", texts=texts, dtype=dtype)
    show_chart(draw_growth, table, ALT, "comparison", origin, ticks=TICKS)
