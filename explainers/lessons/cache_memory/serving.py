"""A model on GPUs: what it runs on, whether it fits, and what pages and several GPUs cost."""

from dataclasses import dataclass, replace

import streamlit as st

from explainers.lessons.cache_memory.asked import Chosen
from explainers.lessons.wording import told
from explainers.memory.cache import kv_cache_bytes
from explainers.memory.formats import FORMATS
from explainers.memory.gpus import GIB, Gpu, gpus
from explainers.memory.groups import ModelShape
from explainers.memory.paging import pages, waste_bytes
from explainers.memory.parallel import rank_shape, replication
from explainers.memory.serving import Deployment, weight_format
from explainers.memory.sizes import both
from explainers.ui import memory_controls as controls
from explainers.ui.language import said
from explainers.ui.plain import verbatim
from explainers.ui.prose import Prose

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
        percent, overhead = controls.percent(1, 100), controls.overhead(0, 1_000)
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
        waste=both(waste) if waste else said("no bytes"),
        gpus=deployment.gpus,
        each=both(each),
        times=f"{float(times):.3g}",
        sequence=said("text") if chosen.beams == 1 else said("beam"),
    )
