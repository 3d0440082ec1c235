"""The hero of the page: what GPUs hold, and a map of what fits on how many of them."""

from typing import Any

from explainers.chapters.cache_memory.choose_cache import CacheChoice, list_models
from explainers.chapters.cache_memory.gpu_fit import Hardware
from explainers.chapters.cache_memory.hero_numbers import (
    LARGE_GPU,
    LATENT,
    LONG,
    MANY,
    WINDOWS,
    answer_backwards,
    choose_tried,
    describe_plans,
    make_usual_hardware,
    name_route,
)
from explainers.memory.cache_bytes import count_cache_bytes
from explainers.memory.model_shapes import ModelShape, find_shape
from explainers.memory.serving import Deployment, count_weight_bytes, find_weight_format, read_gpus
from explainers.memory.sizes import format_size
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice
from explainers.ui.page import Prose

SENTENCES = (
    *("hero_caption", "hero_fits", "hero_one", "hero_many", "hero_too_many"),
    *("hero_no_text", "hero_no_room", "hero_no_cache", "hero_unknown"),
    *("hero_copied_latent", "hero_copied_heads", "hero_fewest", "hero_none"),
    *("hero_bandwidth", "hero_compute", "hero_left_out"),
)


def make_hero(text: Prose, choice: CacheChoice, hardware: Hardware, deployment: Deployment) -> Hero:
    """All lengths and numbers of texts for one model on each number of one kind of GPU."""
    numbers = describe_plans(choice, hardware, deployment)
    splits = [plan["number"] for plan in numbers["plans"]]
    choices = [
        HeroChoice(controls.tokens, numbers["lengths"], choice.tokens),
        HeroChoice(controls.texts, numbers["counts"], choice.texts),
        HeroChoice(controls.gpus, splits, f"{deployment.gpus}", splits),
        HeroChoice(controls.model, list_models(), choice.shape.id, is_elsewhere=True),
        HeroChoice(controls.gpu, list(read_gpus()), deployment.gpu.id, is_elsewhere=True),
    ]
    alt = _("The memory of GPUs with weights and caches in it, and a map of what fits on how many.")
    return Hero(
        "memory",
        alt,
        numbers | {"ahead": name_route(choice, hardware)},
        choices,
        SENTENCES,
        list_experiments(text, choice, hardware),
        name_origin(choice.shape),
        lambda: make_table(numbers),
    )


def name_origin(shape: ModelShape) -> str:
    """How the numbers were computed; they are exact only if nothing of the model is left out."""
    if shape.gaps:
        return _(
            "formula: bytes that must be kept, without some layers, whose states are not known; "
            "overhead estimated; speeds are limits"
        )
    return _("formula: bytes that must be kept, exact; overhead estimated; speeds are limits")


def make_table(numbers: dict[str, Any]) -> Any:
    """A row for each length: the cache of one text, and how many fit on so many GPUs."""
    import pandas as pd  # the first paint needs no tables

    sizes = [format_size(int(size)) for size in numbers["once"]]
    table = pd.DataFrame({_("tokens"): numbers["lengths"], _("cache of one text"): sizes})
    for plan in numbers["plans"]:
        name = _("texts that fit on {number} × {gpu}", number=plan["number"], gpu=numbers["gpu"])
        table[name] = pd.Series(plan["users"], dtype="Int64")
    return table


def list_experiments(text: Prose, choice: CacheChoice, hardware: Hardware) -> list[Experiment]:
    """What a reader can try, each with the numbers that it will show.

    Each sets everything: who comes back to the page has the settings of another one.
    """
    length = controls.tokens.unchosen
    windows, latent = find_shape(WINDOWS), find_shape(LATENT)
    local = next(group for group in windows.require_groups() if group.window)
    (stored,) = latent.require_groups()
    weights = Deployment(latent, read_gpus()[LARGE_GPU], weight_dtype=find_weight_format(latent))
    with_windows = {
        "model": WINDOWS,
        "local": f"{local.count}",
        "layers": f"{sum(group.count for group in windows.require_groups())}",
        "window": f"{local.window:,}",
        "tokens": f"{length:,}",
        "cache": measure_text(choice, windows, length),
    }
    with_latents = {
        "model": LATENT,
        "latent": f"{sum(numbers for _count, numbers in stored.vectors)}",
        "tokens": f"{length:,}",
        "cache": measure_text(choice, latent, length),
        "weights": format_size(count_weight_bytes(weights)),
    }
    filled = ask_backwards(text, choice, hardware) | {
        "windows": text.fill("try_windows", **with_windows),
        "latent": text.fill("try_latent", **with_latents),
    }
    tried = choose_tried(choice.dtype, hardware)
    return [Experiment(name, filled[name], tried[name]) for name in tried]


def ask_backwards(text: Prose, choice: CacheChoice, hardware: Hardware) -> dict[str, str]:
    """How many GPUs do so many readers need, and how long a text does one GPU hold?"""
    shape, usual = find_shape(controls.model.default), make_usual_hardware(hardware)
    found, longest = answer_backwards(choice.dtype, usual)
    enough = [f"{number} × {read_gpus()[name].name}" for name, number in found.items() if number]
    readers = {
        "texts": f"{MANY}",
        "tokens": f"{LONG:,}",
        "cache": measure_text(choice, shape, LONG, MANY),
        "gpus": ", ".join(enough) or _("more than 16 of any GPU"),
    }
    one = {
        "gpu": usual.gpu.name,
        "tokens": f"{longest or 0:,}",
        "model": shape.id,
        "context": f"{shape.context:,}",
    }
    return {
        "readers": text.fill("try_readers", **readers),
        "longest": text.fill("try_longest", **one),
    }


def measure_text(choice: CacheChoice, shape: ModelShape, length: int, number: int = 1) -> str:
    """The size of a cache in the chosen format."""
    source = choice.source_tokens or shape.encoder_context
    return format_size(count_cache_bytes(shape, length, number, choice.dtype, source_tokens=source))
