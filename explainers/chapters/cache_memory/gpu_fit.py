"""A model on GPUs: whether the texts fit, how long they may be, and how fast it could be."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import streamlit as st

from explainers.chapters.cache_memory.choose_cache import CacheChoice
from explainers.memory.cache_bytes import FORMATS, count_cache_bytes
from explainers.memory.cache_formula import warn_beyond_context
from explainers.memory.engines import count_pages, count_wasted_bytes
from explainers.memory.model_shapes import ModelShape
from explainers.memory.serving import (
    GIB,
    Deployment,
    Gpu,
    count_free_bytes_per_gpu,
    count_stored_copies,
    count_users,
    count_weight_bytes,
    count_weight_bytes_per_gpu,
    explain_longest_context,
    explain_memory,
    find_longest_context,
    find_weight_format,
    split_shape,
)
from explainers.memory.sizes import format_both_sizes
from explainers.memory.speed import (
    estimate_tokens_per_second,
    explain_speed,
    find_compute_bound_batch,
    round_fraction,
)
from explainers.messages import ngettext
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.page import Prose

PAGE_SIZES = ("1", "8", "16", "32", "64", "128", "256")
WEIGHT_FORMATS = [name for name, format_ in FORMATS.items() if not format_.residual]
MAX_MILLIONS = 10**8


@dataclass(frozen=True)
class Hardware:
    """What a model is to run on; `weight_dtype` and `block` are how it would be loaded."""

    gpu: Gpu
    gpus: int
    weight_dtype: str
    block: int
    percent: int
    overhead: int


def choose_hardware(gpu: Gpu) -> Hardware:
    """How many such GPUs, and how they are used."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = int(controls.gpus())
        default = controls.weight_dtype.default
        weights = controls.weight_dtype([default, *WEIGHT_FORMATS], default)
        block = int(controls.page_size(PAGE_SIZES, controls.page_size.default))
        percent, overhead = (controls.usable_percent(1, 100), controls.overhead_gib(0, 1_000))
    return Hardware(gpu, number, weights, block, percent, overhead * GIB)


def make_deployment(choice: CacheChoice, hardware: Hardware) -> Deployment:
    """The model on the GPUs; ValueError where it cannot be split over them."""
    shape = choose_parameters(choice.shape)
    weights = hardware.weight_dtype
    if weights not in FORMATS:
        weights = find_weight_format(shape)
    return Deployment(
        shape,
        hardware.gpu,
        hardware.gpus,
        weights,
        choice.dtype,
        hardware.overhead,
        hardware.percent,
        hardware.block,
        choice.source_tokens,
        choice.beams,
    )


def choose_parameters(shape: ModelShape) -> ModelShape:
    """A number of parameters is asked for where none is published; 0 leaves it open."""
    if shape.parameters:
        return shape
    millions = controls.parameters(0, MAX_MILLIONS)
    return replace(shape, parameters=millions * 10**6 or None, has_exact_parameters=False)


def show_page_waste(text: Prose, choice: CacheChoice, deployment: Deployment) -> None:
    """What rounding up to pages wastes, and what splitting heads over GPUs stores twice."""
    shape, block, options = deployment.shape, deployment.block, choice.options
    lengths = choice.tokens, choice.texts
    waste = count_wasted_bytes(shape, *lengths, block=block, beams=choice.beams, **options)
    split = split_shape(shape, deployment.gpus)
    split_bytes = count_cache_bytes(split, *lengths, beams=choice.beams, **options)
    times = count_stored_copies(shape, deployment.gpus, choice.tokens, choice.source_tokens)
    text(
        "pages",
        block=block,
        pages=f"{count_pages(choice.tokens, block):,}",
        empty=f"{block * count_pages(choice.tokens, block) - choice.tokens:,}",
        waste=format_both_sizes(waste) if waste else _("no bytes"),
        gpus=deployment.gpus,
        each=format_both_sizes(split_bytes),
        times=f"{float(times):.3g}",
        sequence=_("text") if choice.beams == 1 else _("beam"),
    )


ENCODER = "encoder"
"""The architecture that reads a text at once and generates none."""


def show_fit(text: Prose, choice: CacheChoice, deployment: Deployment) -> None:
    """Memory, length and speed; no speed of what does not fit."""
    if not deployment.shape.parameters:
        text("no_parameters")
        return
    tokens, texts = choice.tokens, choice.texts
    readers, longest = count_users(deployment, tokens), find_longest_context(deployment, texts)
    text(
        f"fit_{judge_fit(deployment, readers, texts)}",
        gpus=f"{deployment.gpus} × {deployment.gpu.name}",
        weights=format_both_sizes(count_weight_bytes(deployment)),
        readers=_("any number") if readers is None else f"{readers:,}",
        texts=f"{texts:,}",
        tokens=_(ngettext("{count:,} token", "{count:,} tokens", tokens)),
        free=format_both_sizes(abs(count_free_bytes_per_gpu(deployment))),
        each=format_both_sizes(count_weight_bytes_per_gpu(deployment)),
        memory=format_both_sizes(deployment.gpu.memory_bytes),
        usable=_(
            "{percent} % of {memory}",
            percent=deployment.percent,
            memory=format_both_sizes(deployment.gpu.memory_bytes),
        ),
        overhead=format_both_sizes(deployment.overhead),
    )
    if deployment.shape.architecture == ENCODER:
        show_lines(explain_memory(deployment, tokens))
        return
    length = (
        _("without limit")
        if longest is None
        else _(ngettext("{count:,} token", "{count:,} tokens", longest))
    )
    beyond = "" if longest is None else warn_beyond_context(deployment.shape, longest)
    text(
        "longest",
        texts=_(ngettext("{count:,} text", "{count:,} texts", texts)),
        longest=length,
        beyond=beyond,
    )
    lines = [*explain_memory(deployment, tokens), explain_longest_context(deployment, texts)]
    num_served = texts if readers is None else min(texts, readers)
    if num_served:
        show_speed(text, deployment, tokens, num_served)
        lines += explain_speed(deployment, tokens, num_served)
    else:
        text("no_speed", tokens=_(ngettext("{count:,} token", "{count:,} tokens", tokens)))
    show_lines(lines)


def show_lines(lines: Iterable[str]) -> None:
    """The arithmetic, to be read and copied."""
    st.code("\n".join(map(_, lines)), language=None, wrap_lines=True)


def judge_fit(deployment: Deployment, readers: int | None, texts: int) -> str:
    """What to say first: there is room, for too few, or none at all, and why."""
    if count_weight_bytes_per_gpu(deployment) > deployment.gpu.memory_bytes:
        return "weights_too_large"
    if count_free_bytes_per_gpu(deployment) < 0:
        return "no_room"
    if deployment.shape.architecture == ENCODER:
        return "encoder"
    return "yes" if readers is None or readers >= texts else "too_many"


def show_speed(text: Prose, deployment: Deployment, tokens: int, num_served: int) -> None:
    """The limit for as many texts as there is room for."""
    turning_point = find_compute_bound_batch(deployment, tokens)
    text(
        "limits",
        texts=_(ngettext("{count:,} text", "{count:,} texts", num_served)),
        tokens=_(ngettext("{count:,} token", "{count:,} tokens", tokens)),
        speed=f"{round_fraction(estimate_tokens_per_second(deployment, tokens, num_served)):,}",
        turn=_("for no number of texts")
        if turning_point is None
        else _("from {count:,} texts on", count=turning_point),
    )
    if num_served > 1 and deployment.shape.active_parameters:
        text("mixture", texts=_(ngettext("{count:,} text", "{count:,} texts", num_served)))
    if deployment.shape.architecture == "encoder-decoder":
        text("both_halves")
