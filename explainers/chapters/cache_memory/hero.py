"""The hero of the page: what GPUs hold, and a map of what fits on how many of them.

A run of the page takes as long as all that it draws. The picture does not wait for it: it asks
`AHEAD` for what the run will send, and has it in a few milliseconds.
"""

import functools
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from explainers.chapters.cache_memory.choose_cache import CacheChoice, choose_options, list_models
from explainers.chapters.cache_memory.gpu_fit import ENCODER, Hardware, make_deployment
from explainers.memory.cache_bytes import count_cache_bytes
from explainers.memory.cache_formula import format_size
from explainers.memory.capacity_plan import (
    count_weight_bytes_read,
    estimate_computing_seconds,
    estimate_reach,
    find_fewest_gpus,
    find_turning_point,
    list_splits,
)
from explainers.memory.model_shapes import ModelShape, find_shape, list_model_ids
from explainers.memory.serving import (
    Deployment,
    count_text_bytes_per_gpu,
    count_users,
    count_weight_bytes,
    count_weight_bytes_per_gpu,
    find_longest_context,
    find_weight_format,
    read_gpus,
)
from explainers.memory.sharding import HEADS, LAYERS
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice
from explainers.ui.page import Prose

AHEAD = "/ahead/memory"
"""Where a browser asks for the numbers of another model or GPU."""
LENGTHS = tuple(sorted({256 * 2**n for n in range(13)} | {384 * 2**n for n in range(12)}))
COUNTS = tuple(sorted({2**n for n in range(11)} | {3 * 2**n for n in range(9)}))
"""What the reader's point moves over: steps that are half a doubling, or nearly."""
MANY, LONG = 40, 32_768
"""Texts at once and tokens of each, of the question which GPUs they need."""
ASKED_GPUS = ("a100-80", "h100", "h200", "b200")
WINDOWS, LATENT = "gemma-3-27b", "deepseek-v3"
LARGE_GPU, LARGE_NUMBER = "h200", "8"
"""What the weights of the model with latents fit on."""


def describe_plans(
    choice: CacheChoice, hardware: Hardware, deployment: Deployment
) -> dict[str, Any]:
    """The numbers of the picture, at all lengths that may be chosen in it or by a button below."""
    tried = [  # an experiment is drawn without asking the server where model and GPU stay
        one[controls.tokens.key]
        for one in choose_tried(choice.dtype, hardware).values()
        if one[controls.model.key] == deployment.shape.id
        and one[controls.gpu.key] == deployment.gpu.id
    ]
    lengths = tuple(sorted({*LENGTHS, choice.tokens, *tried}))
    return compute_numbers(deployment, lengths) | {"counts": sorted({*COUNTS, choice.texts, MANY})}


@functools.lru_cache(maxsize=64)
def compute_numbers(deployment: Deployment, lengths: tuple[int, ...]) -> dict[str, Any]:
    """What each number of GPUs holds and how fast it can be, in bytes and seconds."""
    splits = list_splits(deployment, sorted({*map(int, controls.gpus.options), deployment.gpus}))
    whole = replace(deployment, gpus=1, split=HEADS)
    once = [count_text_bytes_per_gpu(whole, tokens) for tokens in lengths]
    has_latent = any(group.kind == "latent" for group in deployment.shape.require_groups())
    return {
        "model": deployment.shape.id,
        "gpu": deployment.gpu.name,
        "copied": "hero_copied_latent" if has_latent else "hero_copied_heads",
        "once": [float(size) for size in once],
        "lengths": list(lengths),
        "lengthNames": [name_length(tokens) for tokens in lengths],
        "leftOut": sum(group.count for group in deployment.shape.unknown_groups),
        "writes": deployment.shape.architecture != ENCODER,
        "samples": sample_between(lengths),
        "plans": [compute_plan(split, lengths, once) for split in splits],
    }


def compute_plan(
    deployment: Deployment, lengths: Sequence[int], once: Sequence[int]
) -> dict[str, Any]:
    """Bytes that all GPUs together hold, and seconds of a step on each of them."""
    number, gpu, shape = deployment.gpus, deployment.gpu, deployment.shape
    caches = [
        Fraction(count_text_bytes_per_gpu(deployment, tokens), deployment.replicas)
        for tokens in lengths
    ]
    is_whole = deployment.split == LAYERS  # the largest stage counts, which is no copy
    plan = {
        "number": f"{number}",
        "memory": float(number * gpu.memory_bytes),
        "usable": float(number * (gpu.memory_bytes * deployment.percent // 100)),
        "overhead": float(number * deployment.reserved),
        "caches": [float(number * cache) for cache in caches],
        "isCopied": [
            not is_whole and number * cache > 1.05 * size
            for cache, size in zip(caches, once, strict=True)
        ],
    }
    if not shape.parameters:
        return plan | {"weights": None, "users": [None] * len(lengths)}
    samples = sample_between(lengths)
    return plan | {
        "weights": float(number * count_weight_bytes_per_gpu(deployment)),
        "users": [count_users(deployment, tokens) for tokens in lengths],
        "reach": [to_float(estimate_reach(deployment, tokens)) for tokens in samples],
        "turns": [to_float(find_turning_point(deployment, tokens)) for tokens in samples],
        "readWeights": count_weight_bytes_read(deployment) / gpu.bandwidth,
        "readCaches": [float(cache / gpu.bandwidth) for cache in caches],
        "computing": float(estimate_computing_seconds(deployment)),
    }


def sample_between(lengths: Sequence[int]) -> list[int]:
    """The lengths and one between each two: where the contours are computed."""
    between = (int((one * two) ** 0.5) for one, two in pairwise(lengths))
    return sorted({*lengths, *between})


def to_float(number: Any) -> float | None:
    """A fraction for the picture; None stays."""
    return None if number is None else float(number)


def name_length(tokens: int) -> str:
    """As lengths of texts are advertised: a thousand is 1,024 here."""
    if tokens not in LENGTHS or tokens < 1_024:
        return f"{tokens:,}"
    return f"{tokens >> 20}M" if tokens >> 20 else f"{tokens / 1_024:g}k"


def choose_tried(dtype: str, hardware: Hardware) -> dict[str, dict[str, Any]]:
    """What each experiment chooses."""
    found, longest = answer_backwards(dtype, make_usual_hardware(hardware))
    fewest = f"{found[controls.gpu.default] or controls.gpus.options[-1]}"
    return {
        "readers": choose_all(texts=MANY, tokens=LONG, gpus=fewest),
        "longest": choose_all(texts=1, tokens=longest or 1),
        "windows": choose_all(model=WINDOWS),
        "latent": choose_all(model=LATENT, gpu=LARGE_GPU, gpus=LARGE_NUMBER),
    }


def choose_all(**chosen: Any) -> dict[str, Any]:
    """Every choice of the picture, by its name in the link; as at first where nothing is said."""
    names = "texts", "tokens", "model", "gpu", "gpus"
    every = {name: getattr(controls, name) for name in names}
    return {one.key: chosen.get(name, one.unchosen) for name, one in every.items()}


@functools.lru_cache(maxsize=256)
def answer_backwards(dtype: str, usual: Hardware) -> tuple[dict[str, int | None], int | None]:
    """Of each kind of GPU the fewest that hold the readers, and the longest text on a usual one.

    About the model that is chosen at first, whichever is chosen now.
    """
    cache = CacheChoice(find_shape(controls.model.default), LONG, MANY, dtype, None)
    found = {
        name: find_fewest_gpus(make_deployment(cache, replace(usual, gpu=gpu)), LONG, MANY)
        for name, gpu in read_gpus().items()
        if name in ASKED_GPUS
    }
    numbers = {name: one.gpus if one else None for name, one in found.items()}
    return numbers, find_longest_context(make_deployment(cache, usual))


def make_usual_hardware(hardware: Hardware) -> Hardware:
    """One of the usual GPU, used as the chosen ones are."""
    return replace(hardware, gpus=1, gpu=read_gpus()[controls.gpu.default])


def make_plan_of(
    model: str, gpu: str, gpus: str, tokens: int, texts: int
) -> tuple[CacheChoice, Hardware, Deployment] | None:
    """What the page shows of a model where only the picture's own choices were made.

    Nothing where there is no such model or GPU, or where the page asks for more: the length of
    an encoder's text, or the number of parameters.
    """
    if model not in list_model_ids() or gpu not in read_gpus() or gpus not in controls.gpus.options:
        return None
    shape = find_shape(model)
    if not shape.groups or not shape.parameters or any(g.kind == "cross" for g in shape.groups):
        return None
    choice = choose_options(shape, tokens, texts, lambda control, *_possible: control.default)
    hardware = Hardware(
        read_gpus()[gpu],
        int(gpus),
        controls.weight_dtype.default,
        controls.usable_percent.default,
        None,
        controls.gpu_split.default,
    )
    with suppress(ValueError):  # it cannot be split so, which the page says
        return choice, hardware, make_deployment(choice, hardware)
    return None


def answer_ahead(asked: Mapping[str, str]) -> dict[str, Any] | None:
    """What a browser asks for while the page runs: the numbers for another model or GPU.

    `asked` is the picture's choices as a link has them. Nothing for what only the page can show.
    """
    tokens, texts = (one.read(asked.get(one.key, "")) for one in (controls.tokens, controls.texts))
    model, gpu, gpus = (
        asked.get(one.key, "") for one in (controls.model, controls.gpu, controls.gpus)
    )
    plan = make_plan_of(model, gpu, gpus, tokens, texts) if tokens and texts else None
    return describe_plans(*plan) if plan else None


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
    # The browser may ask ahead if no more is chosen than the picture has: the route knows only
    # that, and the settings of the menu would have to travel as well.
    chosen = choice.shape.id, hardware.gpu.id, f"{hardware.gpus}", choice.tokens, choice.texts
    usual = make_plan_of(*chosen)
    return Hero(
        "memory",
        alt,
        numbers | {"ahead": AHEAD if usual and usual[:2] == (choice, hardware) else ""},
        choices,
        SENTENCES,
        list_experiments(text, choice, hardware),
        _(
            "formula: bytes that must be kept, without some layers, whose states are not known; "
            "overhead estimated; speeds are limits"
        )
        if choice.shape.gaps
        else _("formula: bytes that must be kept, exact; overhead estimated; speeds are limits"),
        lambda: make_table(numbers),
    )


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
    shape, usual = find_shape(controls.model.default), make_usual_hardware(hardware)
    found, longest = answer_backwards(choice.dtype, usual)
    enough = [f"{number} × {read_gpus()[name].name}" for name, number in found.items() if number]
    many_readers = {
        "texts": f"{MANY}",
        "tokens": f"{LONG:,}",
        "cache": measure_text(choice, shape, LONG, MANY),
        "gpus": ", ".join(enough) or _("more than 16 of any GPU"),
    }
    one_reader = {
        "gpu": usual.gpu.name,
        "tokens": f"{longest or 0:,}",
        "model": shape.id,
        "context": f"{shape.context:,}",
    }
    named = {
        "readers": many_readers,
        "longest": one_reader,
        "windows": with_windows,
        "latent": with_latents,
    }
    tried = choose_tried(choice.dtype, hardware)
    return [
        Experiment(name, text.fill(f"try_{name}", **named[name]), chosen)
        for name, chosen in tried.items()
    ]


def measure_text(choice: CacheChoice, shape: ModelShape, length: int, number: int = 1) -> str:
    """The size of a cache in the chosen format."""
    source = choice.source_tokens or shape.encoder_context
    return format_size(count_cache_bytes(shape, length, number, choice.dtype, source_tokens=source))
