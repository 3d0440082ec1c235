"""The hero of the page: what a GPU holds, and which texts fit beside the weights."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from explainers.chapters.cache_memory.choose_cache import CacheChoice
from explainers.memory.cache_bytes import count_cache_bytes
from explainers.memory.model_shapes import ModelShape, find_shape
from explainers.memory.serving import (
    GIB,
    Deployment,
    count_free_bytes_per_gpu,
    count_stored_copies,
    count_text_bytes_per_gpu,
    count_users,
    count_weight_bytes,
    count_weight_bytes_per_gpu,
    find_weight_format,
    read_gpus,
)
from explainers.memory.sizes import format_size
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice
from explainers.ui.page import Prose

LENGTHS = tuple(1_024 * 2**n for n in range(11))
COUNTS = (1, 2, 4, 8, 16, 32, 64, 128)
NAMES = {tokens: f"{tokens >> 20}M" if tokens >> 20 else f"{tokens >> 10}k" for tokens in LENGTHS}
"""As lengths of texts are advertised: a thousand is 1,024 here."""
READERS = 64, 8_192
"""Texts at once, and tokens of each."""
WINDOWS, LATENT = "gemma-3-27b", "deepseek-v3"
LARGE_GPU, LARGE_NUMBER = "h200", "8"
"""What the weights of the model with latents fit on."""
SENTENCES = (
    *("hero_caption", "hero_fits", "hero_one", "hero_many", "hero_too_many"),
    *("hero_no_text", "hero_no_room", "hero_no_cache", "hero_unknown"),
    *("hero_copied_latent", "hero_copied_heads"),
)


def make_hero(text: Prose, choice: CacheChoice, deployment: Deployment, models: list[str]) -> Hero:
    """All lengths and numbers of texts for one model on one kind of GPU."""
    lengths = sorted({*LENGTHS, choice.tokens})
    counts = sorted({*COUNTS, choice.texts})
    gpus, number = list(read_gpus()), f"{deployment.gpus}"
    choices = [
        HeroChoice(controls.tokens, lengths, choice.tokens),
        HeroChoice(controls.texts, counts, choice.texts),
        HeroChoice(controls.model, models, choice.shape.id, is_elsewhere=True),
        HeroChoice(controls.gpu, gpus, deployment.gpu.id, is_elsewhere=True),
        HeroChoice(controls.gpus, controls.gpus.options, number, is_elsewhere=True),
    ]
    alt = _("The memory of a GPU with weights and caches in it, and a map of the texts that fit.")
    numbers = compute_numbers(deployment, lengths, counts)
    return Hero(
        "memory",
        alt,
        numbers,
        choices,
        SENTENCES,
        list_experiments(text, choice),
        _("formula: bytes that must be kept, exact; overhead estimated"),
        lambda: make_table(numbers),
    )


def compute_numbers(
    deployment: Deployment, lengths: Sequence[int], counts: Sequence[int]
) -> dict[str, Any]:
    """What all GPUs together hold: sizes in GiB for drawing, and in words."""
    gpu, gpus = deployment.gpu, deployment.gpus
    memory, overhead = gpus * gpu.memory_bytes, gpus * deployment.overhead
    is_known = bool(deployment.shape.parameters)
    weights = gpus * count_weight_bytes_per_gpu(deployment) if is_known else 0
    free = gpus * count_free_bytes_per_gpu(deployment) if is_known else 0
    caches = [gpus * count_text_bytes_per_gpu(deployment, tokens) for tokens in lengths]
    whole = replace(deployment, gpus=1)
    once = [count_text_bytes_per_gpu(whole, tokens) for tokens in lengths]
    has_latent = any(group.kind == "latent" for group in deployment.shape.require_groups())
    return {
        "model": deployment.shape.id,
        "number": gpus,
        "copied": "hero_copied_latent" if has_latent else "hero_copied_heads",
        "isCopied": [
            count_stored_copies(deployment.shape, gpus, tokens, deployment.source_tokens) > 1
            for tokens in lengths
        ],
        "once": [
            [format_size(count * min(pair)) for pair in zip(caches, once, strict=True)]
            for count in counts
        ],
        "gpus": f"{gpus} × {gpu.name}",
        "memory": memory / GIB,
        "usable": memory * deployment.percent // 100 / GIB,
        "weights": weights / GIB if is_known else None,
        "overhead": overhead / GIB,
        "said": {
            "memory": format_size(memory),
            "weights": format_size(weights),
            "overhead": format_size(overhead),
            "free": format_size(max(0, free)),
        },
        "lengths": list(lengths),
        "lengthNames": [NAMES.get(tokens, f"{tokens:,}") for tokens in lengths],
        "counts": list(counts),
        "caches": [cache / GIB for cache in caches],
        "users": [count_users(deployment, one) if is_known else None for one in lengths],
        "sizes": [[format_size(count * cache) for cache in caches] for count in counts],
    }


def make_table(numbers: dict[str, Any]) -> Any:
    """A row for each length: the caches of so many texts, and how many fit."""
    import pandas as pd  # the first paint needs no tables

    table = pd.DataFrame(dict(zip(map(str, numbers["counts"]), numbers["sizes"], strict=True)))
    table.insert(0, _("tokens"), numbers["lengths"])
    return table.assign(**{_("texts that fit"): pd.Series(numbers["users"], dtype="Int64")})


def list_experiments(text: Prose, choice: CacheChoice) -> list[Experiment]:
    """What a reader can try, each with the numbers that it will show.

    Each sets everything: who comes back to the page has the settings of another one.
    """
    many, short = READERS
    usual, long = find_shape(controls.model.default), controls.tokens.unchosen

    def size(shape: ModelShape, length: int, number: int = 1) -> str:
        source = choice.source_tokens or shape.encoder_context
        return format_size(
            count_cache_bytes(shape, length, number, choice.dtype, source_tokens=source)
        )

    readers = {
        "texts": f"{many}",
        "tokens": f"{short:,}",
        "cache": size(usual, short, many),
        "long": f"{long:,}",
        "one": size(usual, long),
    }
    windows, latent = find_shape(WINDOWS), find_shape(LATENT)
    local = next(group for group in windows.require_groups() if group.window)
    (stored,) = latent.require_groups()
    weights = Deployment(latent, read_gpus()[LARGE_GPU], weight_dtype=find_weight_format(latent))
    told = {"tokens": f"{long:,}"}
    with_windows = told | {
        "model": WINDOWS,
        "local": f"{local.count}",
        "layers": f"{sum(group.count for group in windows.require_groups())}",
        "window": f"{local.window:,}",
        "cache": size(windows, long),
    }
    with_latents = told | {
        "model": LATENT,
        "latent": f"{sum(numbers for _count, numbers in stored.vectors)}",
        "cache": size(latent, long),
        "weights": format_size(count_weight_bytes(weights)),
    }
    return [
        Experiment("readers", text.fill("try_readers", **readers), choose_all(many, short)),
        Experiment("windows", text.fill("try_windows", **with_windows), choose_all(model=WINDOWS)),
        Experiment(
            "latent",
            text.fill("try_latent", **with_latents),
            choose_all(model=LATENT, gpu=LARGE_GPU, gpus=LARGE_NUMBER),
        ),
    ]


def choose_all(
    texts: int = controls.texts.unchosen,
    tokens: int = controls.tokens.unchosen,
    model: str = controls.model.default,
    gpu: str = controls.gpu.default,
    gpus: str = controls.gpus.default,
) -> dict[str, Any]:
    """Every choice of the picture, by its name in the link."""
    return {
        controls.texts.key: texts,
        controls.tokens.key: tokens,
        controls.model.key: model,
        controls.gpu.key: gpu,
        controls.gpus.key: gpus,
    }
