"""Up to six models in one picture over the length of a text, with the memory of the GPUs."""

from functools import cache, lru_cache, partial
from typing import Any

from explainers.chapters.cache_memory.choose_cache import CacheChoice
from explainers.chapters.cache_memory.gpu_fit import Hardware, read_plan
from explainers.charts.matrix import Matrix
from explainers.memory.cache_bytes import (
    count_bytes_per_token,
    count_cache_bytes,
    count_extra_bytes,
)
from explainers.memory.cache_formula import format_both_sizes, format_size
from explainers.memory.model_shapes import ModelShape, find_shape, read_shapes
from explainers.messages import N_, ngettext
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.name_controls import pick_names
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.prediction import revealed
from explainers.ui.text.language import fragment
from explainers.ui.text.numbers import keep_units_together

LENGTHS = (1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 262_144, 524_288, 1_048_576)
TWO = "llama-3.1-8b", "deepseek-v3"
QUESTION = 131_072
ALT = N_(
    "Bytes of the caches of the chosen models over the tokens of a text, and the memory of the "
    "GPUs as a line; both axes are logarithmic. The table below names the models and their bytes."
)
WITHOUT_ENCODER = 1_500
"""Tokens of the other text where a model's encoder has no limit: what Whisper reads."""


@lru_cache(maxsize=16_384)
def count_model_bytes(model: str, tokens: int, texts: int, dtype: str) -> int:
    """The ideal minimum, with states and indexes; an encoder reads as much as it can."""
    shape = find_shape(model)
    source = shape.encoder_context or WITHOUT_ENCODER
    cache = count_cache_bytes(shape, tokens, texts, dtype, source_tokens=source)
    return cache + count_extra_bytes(shape, tokens, texts)


@cache
def list_comparable_models() -> tuple[str, ...]:
    """The models that keep a cache, as far as it is known what."""
    return tuple(name for name, shape in read_shapes().items() if shape.groups)


@fragment
def compare_models(text: Prose) -> None:
    """The models that the reader chooses, as lines and as a table, after a question about two:
    which of a small and a large one needs the larger cache?"""
    plan = read_plan()
    if not plan.choice:
        return
    sizes = {name: count_model_bytes(name, QUESTION, 1, "bfloat16") for name in TWO}
    small, large = map(format_both_sizes, sizes.values())
    asked = {"tokens": f"{QUESTION:,}", "small": small, "large": large}
    if not revealed(text, "compare", TWO, max(sizes, key=sizes.__getitem__), **asked):
        return
    names = pick_names(controls.compared_models, list_comparable_models())
    if not names:
        text("compare_none")
        return
    shapes, choice = [find_shape(name) for name in names], plan.choice
    draw_comparison(shapes, choice, plan.hardware)
    text(
        "compared",
        rows="\n".join(make_model_row(shape, choice) for shape in shapes),
        tokens=_(ngettext("{count:,} token", "{count:,} tokens", choice.tokens)),
        texts=_(ngettext("{count:,} text", "{count:,} texts", choice.texts)),
        dtype=choice.dtype,
    )


def make_model_row(shape: ModelShape, choice: CacheChoice) -> str:
    """A model's line of the table."""
    tokens, texts, dtype = choice.tokens, choice.texts, choice.dtype
    rate = count_bytes_per_token(shape, dtype)
    size = count_model_bytes(shape.id, tokens, texts, dtype)
    now, then = (count_model_bytes(shape.id, length, 1, dtype) for length in (tokens, tokens + 1))
    exact_size = _("{count:,} bytes", count=size)
    both_sizes = keep_units_together(format_both_sizes(size))
    amounts = f"{rate:,} / {then - now:,} | {both_sizes} ({exact_size})"
    return f"| {shape.id} ({_(shape.attention)}) | {amounts} |"


def draw_comparison(shapes: list[ModelShape], choice: CacheChoice, hardware: Hardware) -> None:
    """The picture; a cache that outgrows the memory of all GPUs crosses the border.

    Its lines are exact only if nothing of any model is left out.
    """
    texts, dtype = choice.texts, choice.dtype
    lengths = tuple(sorted({*LENGTHS, choice.tokens}))
    pool = {
        name: [count_model_bytes(name, tokens, texts, dtype) for tokens in lengths]
        for name in list_comparable_models()
    }
    memory, name = hardware.gpus * hardware.gpu.memory_bytes, hardware.gpu.name
    border = _(
        "memory of {count} × {gpu}: {size}", count=hardware.gpus, gpu=name, size=format_size(memory)
    )
    own = lengths.index(choice.tokens)
    matrix = Matrix(
        _("cache of each model"),
        border,
        [pool[shape.id] for shape in shapes],
        [shape.id for shape in shapes],
        [f"{tokens}" for tokens in lengths],
        "",
        _("tokens of a text"),
        kind="lines",
        limit=float(memory),
        ringed_cells=tuple((row, own) for row in range(len(shapes))),
    )
    table = partial(make_growth_table, matrix, memory)
    panel = Panel("comparison", matrix, pool=pool, pooled_by=controls.compared_models.key)
    origin = _("formula: ideal minimum for {texts:,} × {dtype}, exact", texts=texts, dtype=dtype)
    if names := ", ".join(shape.id for shape in shapes if shape.gaps):
        origin = _(
            "formula: ideal minimum for {texts:,} × {dtype}; some layers of {models} are left out",
            texts=texts,
            dtype=dtype,
            models=names,
        )
    show_figure(Figure([panel], ALT), origin, "comparison", table)


def make_growth_table(matrix: Matrix, memory: int) -> Any:
    """The points of all lines, and the two ends of the border."""
    from explainers.charts.bars import make_storable

    lengths = [int(column) for column in matrix.columns]
    points = [
        (model, place, tokens, int(size or 0), False)
        for place, (model, line) in enumerate(zip(matrix.rows, matrix.values, strict=True))
        for tokens, size in zip(lengths, line, strict=True)
    ]
    ends = lengths[0], lengths[-1]
    points += [(matrix.formula, len(matrix.rows), end, memory, True) for end in ends]
    table = tabulate(points, ["model", "place", "tokens", "bytes", "limit"])
    sizes = [point[3] for point in points]
    return table.assign(bytes=make_storable(sizes), gib=[size / 2**30 for size in sizes])
