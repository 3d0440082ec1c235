"""Up to six models in one picture over the length of a text, with the memory of the GPUs."""

from explainers.chapters.cache_memory.choose_cache import CacheChoice
from explainers.chapters.cache_memory.gpu_fit import Hardware
from explainers.memory.cache_bytes import count_bytes_per_token, count_cache_bytes
from explainers.memory.model_shapes import ModelShape, find_shape, list_model_ids
from explainers.memory.sizes import format_both_sizes, format_size
from explainers.messages import N_, ngettext
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import show_chart
from explainers.ui.text.numbers import keep_units_together

LENGTHS = (1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 262_144, 524_288, 1_048_576)
TICKS = LENGTHS[::2]
TWO = SMALL, LARGE = "llama-3.1-8b", "deepseek-v3"
QUESTION = 131_072
# A sentence that changed with the models would have the browser build the picture anew.
ALT = N_(
    "Bytes of the caches of the chosen models over the tokens of a text, and the memory of the "
    "GPUs as a line; both axes are logarithmic. The table below names the models and their bytes."
)
WITHOUT_ENCODER = 1_500
"""Tokens of the other text where a model's encoder has no limit: what Whisper reads."""


def count_model_bytes(shape: ModelShape, tokens: int, texts: int, dtype: str) -> int:
    """The ideal minimum; an encoder reads as much as it can."""
    source = shape.encoder_context or WITHOUT_ENCODER
    return count_cache_bytes(shape, tokens, texts, dtype, source_tokens=source)


def list_comparable_models() -> list[str]:
    """The models that keep a cache, as far as it is known what."""
    shapes = map(find_shape, list_model_ids())
    return [shape.id for shape in shapes if shape.groups]


def compare_two() -> dict[str, str]:
    """Which of a small and a large model needs the larger cache, and how large both are."""
    sizes = {
        name: count_model_bytes(find_shape(name), QUESTION, 1, "bfloat16")
        for name in (SMALL, LARGE)
    }
    return {
        "answer": max(sizes, key=sizes.__getitem__),
        "tokens": f"{QUESTION:,}",
        "small": format_both_sizes(sizes[SMALL]),
        "large": format_both_sizes(sizes[LARGE]),
    }


def choose_models() -> list[ModelShape]:
    """The models that the reader wants to compare."""
    return [find_shape(name) for name in controls.compared_models(list_comparable_models())]


def show_models(
    shapes: list[ModelShape], choice: CacheChoice, hardware: Hardware
) -> dict[str, str]:
    """The models as lines; returns them as rows of a table, and for which texts it is."""
    draw_comparison(shapes, choice.texts, choice.dtype, hardware)
    of_text = choice.tokens, choice.texts, choice.dtype
    return {
        "rows": "\n".join(make_model_row(shape, *of_text) for shape in shapes),
        "tokens": _(ngettext("{count:,} token", "{count:,} tokens", choice.tokens)),
        "texts": _(ngettext("{count:,} text", "{count:,} texts", choice.texts)),
        "dtype": choice.dtype,
    }


def make_model_row(shape: ModelShape, tokens: int, texts: int, dtype: str) -> str:
    """A model's line of the table."""
    rate = count_bytes_per_token(shape, dtype)
    size = count_model_bytes(shape, tokens, texts, dtype)
    next_token_bytes = count_model_bytes(shape, tokens + 1, 1, dtype) - count_model_bytes(
        shape, tokens, 1, dtype
    )
    exact_size = _("{count:,} bytes", count=size)
    both_sizes = keep_units_together(format_both_sizes(size))
    amounts = f"{rate:,} / {next_token_bytes:,} | {both_sizes} ({exact_size})"
    return f"| {shape.id} ({_(shape.attention)}) | {amounts} |"


def draw_comparison(shapes: list[ModelShape], texts: int, dtype: str, hardware: Hardware) -> None:
    """The picture; a cache that outgrows the memory of all GPUs crosses the line."""
    import pandas as pd

    from explainers.charts.bars import make_storable
    from explainers.charts.curves import draw_growth

    rows = []
    for place, shape in enumerate(shapes):
        for tokens in LENGTHS:
            size = count_model_bytes(shape, tokens, texts, dtype)
            rows.append((shape.id, place, tokens, size, size / 2**30, False))
    memory, name = hardware.gpus * hardware.gpu.memory_bytes, hardware.gpu.name
    line = _(
        "memory of {count} × {gpu}: {size}", count=hardware.gpus, gpu=name, size=format_size(memory)
    )
    ends = LENGTHS[0], LENGTHS[-1]
    rows += [(line, len(shapes), end, memory, memory / 2**30, True) for end in ends]
    table = pd.DataFrame(rows, columns=["model", "place", "tokens", "bytes", "gib", "limit"])
    table = table.assign(bytes=make_storable([row[3] for row in rows]))
    origin = _("formula: ideal minimum for {texts:,} × {dtype}, exact", texts=texts, dtype=dtype)
    show_chart(draw_growth, table, ALT, "comparison", origin, ticks=TICKS)
