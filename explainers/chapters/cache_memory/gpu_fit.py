"""A model on GPUs: whether the texts fit, how long they may be, and how fast it could be."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import streamlit as st

from explainers.chapters.cache_memory.choose_cache import Chosen
from explainers.chapters.common.number_words import told
from explainers.memory.cache_bytes import kv_cache_bytes
from explainers.memory.cache_formula import context_note
from explainers.memory.engines import pages, waste_bytes
from explainers.memory.gpus import GIB, Gpu, gpus, rank_shape, replication
from explainers.memory.layer_groups import ModelShape
from explainers.memory.number_formats import FORMATS
from explainers.memory.serving import (
    Deployment,
    context_line,
    free_on_each,
    longest_context,
    memory_lines,
    users,
    weight_bytes,
    weight_format,
    weights_on_each,
)
from explainers.memory.sizes import both
from explainers.memory.speed import compute_bound_batch, decimals, speed_lines, tokens_per_second
from explainers.messages import ngettext
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.page import Prose
from explainers.ui.untrusted_text import verbatim

PAGE_SIZES = ("1", "8", "16", "32", "64", "128", "256")
WEIGHT_FORMATS = [name for name, format_ in FORMATS.items() if not format_.residual]
MOST_MILLIONS = 10**8


@dataclass(frozen=True)
class Hardware:
    """What a model is to run on; `weight_dtype` and `block` are how it would be loaded."""

    gpu: Gpu
    gpus: int
    weight_dtype: str
    block: int
    percent: int
    overhead: int


def choose_hardware() -> Hardware:
    """The inputs; they are there whatever model there is."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        gpu = gpus()[controls.gpu(list(gpus()), controls.gpu.default)]
        number = int(controls.gpus())
        default = controls.weight_dtype.default
        weights = controls.weight_dtype([default, *WEIGHT_FORMATS], default)
        block = int(controls.page_size(PAGE_SIZES, controls.page_size.default))
        percent, overhead = (
            controls.usable_percent(1, 100),
            controls.overhead_gib(0, 1_000),
        )
    return Hardware(gpu, number, weights, block, percent, overhead * GIB)


def deployed(chosen: Chosen, hardware: Hardware) -> Deployment | None:
    """The model on the GPUs; nothing, and a message, where it cannot be split over them."""
    shape = with_parameters(chosen.shape)
    weights = hardware.weight_dtype
    if weights not in FORMATS:
        weights = weight_format(shape)
    try:
        return Deployment(
            shape,
            hardware.gpu,
            hardware.gpus,
            weights,
            chosen.dtype,
            hardware.overhead,
            hardware.percent,
            hardware.block,
            chosen.source_tokens,
            chosen.beams,
        )
    except ValueError as error:
        st.warning(verbatim(told(error)), icon=":material/edit_note:")
        return None


def with_parameters(shape: ModelShape) -> ModelShape:
    """A number of parameters is asked for where none is published; 0 leaves it open."""
    if shape.parameters:
        return shape
    millions = controls.parameters(0, MOST_MILLIONS)
    return replace(shape, parameters=millions * 10**6 or None, parameters_are_exact=False)


def show_pages(text: Prose, chosen: Chosen, deployment: Deployment) -> None:
    """What rounding up to pages wastes, and what splitting heads over GPUs stores twice."""
    shape, block, given = deployment.shape, deployment.block, chosen.of
    of_all = chosen.tokens, chosen.texts
    waste = waste_bytes(shape, *of_all, block=block, beams=chosen.beams, **given)
    split = rank_shape(shape, deployment.gpus)
    each = kv_cache_bytes(split, *of_all, beams=chosen.beams, **given)
    times = replication(shape, deployment.gpus, chosen.tokens, chosen.source_tokens)
    text(
        "pages",
        block=block,
        pages=f"{pages(chosen.tokens, block):,}",
        empty=f"{block * pages(chosen.tokens, block) - chosen.tokens:,}",
        waste=both(waste) if waste else _("no bytes"),
        gpus=deployment.gpus,
        each=both(each),
        times=f"{float(times):.3g}",
        sequence=_("text") if chosen.beams == 1 else _("beam"),
    )


ENCODER = "encoder"
"""The architecture that reads a text at once and generates none."""


def show_fit(text: Prose, chosen: Chosen, deployment: Deployment) -> None:
    """Memory, length and speed; no speed of what does not fit."""
    if not deployment.shape.parameters:
        text("no_parameters")
        return
    tokens, texts = chosen.tokens, chosen.texts
    readers, longest = users(deployment, tokens), longest_context(deployment, texts)
    text(
        f"fit_{verdict(deployment, readers, texts)}",
        gpus=f"{deployment.gpus} × {deployment.gpu.name}",
        weights=both(weight_bytes(deployment)),
        readers=_("any number") if readers is None else f"{readers:,}",
        texts=f"{texts:,}",
        tokens=_(ngettext("{count:,} token", "{count:,} tokens", tokens)),
        free=both(abs(free_on_each(deployment))),
        each=both(weights_on_each(deployment)),
        memory=both(deployment.gpu.memory),
        usable=_(
            "{percent} % of {memory}",
            percent=deployment.percent,
            memory=both(deployment.gpu.memory),
        ),
        overhead=both(deployment.overhead),
    )
    if deployment.shape.architecture == ENCODER:
        show_lines(memory_lines(deployment, tokens))
        return
    length = (
        _("without limit")
        if longest is None
        else _(ngettext("{count:,} token", "{count:,} tokens", longest))
    )
    beyond = "" if longest is None else context_note(deployment.shape, longest)
    text(
        "longest",
        texts=_(ngettext("{count:,} text", "{count:,} texts", texts)),
        longest=length,
        beyond=beyond,
    )
    lines = [*memory_lines(deployment, tokens), context_line(deployment, texts)]
    served = texts if readers is None else min(texts, readers)
    if served:
        show_speed(text, deployment, tokens, served)
        lines += speed_lines(deployment, tokens, served)
    else:
        text("no_speed", tokens=_(ngettext("{count:,} token", "{count:,} tokens", tokens)))
    show_lines(lines)


def show_lines(lines: Iterable[str]) -> None:
    """The arithmetic, to be read and copied."""
    st.code("\n".join(map(_, lines)), language=None, wrap_lines=True)


def verdict(deployment: Deployment, readers: int | None, texts: int) -> str:
    """What to say first: there is room, for too few, or none at all, and why."""
    if weights_on_each(deployment) > deployment.gpu.memory:
        return "weights_too_large"
    if free_on_each(deployment) < 0:
        return "no_room"
    if deployment.shape.architecture == ENCODER:
        return "encoder"
    return "yes" if readers is None or readers >= texts else "too_many"


def show_speed(text: Prose, deployment: Deployment, tokens: int, served: int) -> None:
    """The limit for as many texts as there is room for."""
    turn = compute_bound_batch(deployment, tokens)
    text(
        "limits",
        texts=_(ngettext("{count:,} text", "{count:,} texts", served)),
        tokens=_(ngettext("{count:,} token", "{count:,} tokens", tokens)),
        speed=f"{decimals(tokens_per_second(deployment, tokens, served)):,}",
        turn=_("for no number of texts")
        if turn is None
        else _("from {count:,} texts on", count=turn),
    )
    if served > 1 and deployment.shape.active_parameters:
        text("mixture", texts=_(ngettext("{count:,} text", "{count:,} texts", served)))
    if deployment.shape.architecture == "encoder-decoder":
        text("both_halves")
