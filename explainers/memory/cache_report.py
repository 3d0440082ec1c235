"""Every number of the cache calculator in one record: for scripts, and for the command line.


report = report_cache("llama-3.1-8b", tokens=131_072, batch=8, gpu="h100", engine="vllm")
report.total_bytes, report.fit.texts_that_fit, report.command.code
"""

import difflib
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from explainers.memory.cache_bytes import (
    BLOCK_SIZE,
    count_bytes_per_token,
    count_extra_bytes,
    find_format,
    list_group_caches,
)
from explainers.memory.cache_formula import explain_cache, warn_beyond_context
from explainers.memory.capacity_plan import GpuPlan, estimate_tokens_per_second, plan_every_gpu
from explainers.memory.checked_fields import (
    FindDefaults,
    check_one_of,
    know_no_class,
    shorten_value,
)
from explainers.memory.engines import LLAMA_CPP, TRANSFORMERS
from explainers.memory.model_shapes import ModelShape, find_shape, list_model_ids
from explainers.memory.read_config import read_config_file
from explainers.memory.serving import (
    Deployment,
    count_free_bytes_per_gpu,
    count_text_bytes_per_gpu,
    count_users,
    count_weight_bytes,
    find_longest_context,
    find_weight_format,
    read_gpus,
)
from explainers.memory.serving_flags import COMMANDS, Command, explain_obstacle, make_command
from explainers.memory.sharding import HEADS
from explainers.messages import N_, InputError


@dataclass(frozen=True)
class GroupReport:
    """Layers that keep the same things: how many rows of one text each keeps, and all of them."""

    kind: str
    layers: int
    rows: int
    size: int


@dataclass(frozen=True)
class FitReport:
    """The same cache on GPUs. `tokens_per_second` is the most that bandwidth and arithmetic allow.

    None stands for no limit; sizes are bytes, those `_per_gpu` are what each GPU holds or has left.
    """

    gpu: str
    gpus: int
    weight_dtype: str
    weight_bytes: int
    free_bytes_per_gpu: int
    text_bytes_per_gpu: int
    texts_that_fit: int | None
    longest_context: int | None
    tokens_per_second: float | None


@dataclass(frozen=True)
class PlanReport:
    """The fewest GPUs of one kind that hold all texts, and the longest text on a single one.

    `gpus` is None if no number up to 16 holds them; then nothing but `longest_on_one` is said.
    Another None stands for no limit. `limit` is what makes a step no faster.
    """

    gpu: str
    gpus: int | None
    texts_that_fit: int | None
    free_bytes_per_gpu: int | None
    limit: str
    tokens_per_second: float | None
    longest_on_one: int | None


ANY = "any"
"""In place of a GPU: every kind that is known."""
ENGINES = {name.lower(): name for name in (*COMMANDS, TRANSFORMERS)}


@dataclass(frozen=True)
class CacheReport:
    """The cache of `batch` texts of `tokens` tokens; all sizes are whole bytes.

    `cache_bytes` are keys, values, latents and merged rows; `extra_bytes` states and indexes.
    `left_out` is empty if everything was counted. `command` is None if no engine was named, or
    for a reason that `no_command` says.
    """

    model: str
    tokens: int
    batch: int
    dtype: str
    cache_bytes: int
    extra_bytes: int
    total_bytes: int
    bytes_per_token: int
    groups: tuple[GroupReport, ...]
    working: tuple[str, ...]
    left_out: tuple[str, ...]
    notes: tuple[str, ...]
    sources: tuple[str, ...]
    fit: FitReport | None = None
    plans: tuple[PlanReport, ...] = ()
    command: Command | None = None
    no_command: str = ""


def report_cache(
    model: str | Path | ModelShape,
    tokens: int,
    batch: int = 1,
    *,
    gpu: str = "",
    gpus: int = 1,
    engine: str = "",
    dtype: str = "",
    weight_dtype: str = "",
    parameters: int | None = None,
    source_tokens: int | None = None,
    overhead: int | None = None,
    percent: int = 90,
    block: int = BLOCK_SIZE,
    split: str = HEADS,
    ways: int = 0,
    find_defaults: FindDefaults = know_no_class,
) -> CacheReport:
    """Size a cache, and fit it onto GPUs if a `gpu` is named; "any" compares all kinds.

    `model` is the id of a published model, a config.json, its folder, or a shape. `engine` asks for
    the flags of one. `source_tokens` are those that an encoder read; `overhead` is in bytes,
    estimated if None, `percent` the part of a GPU that may be used, `block` the tokens of a page,
    `split` and `ways` how GPUs divide the model. The cache is in
    bfloat16, or what the file says, where `dtype` says nothing. What cannot be is a ValueError
    that says why.
    """
    if engine and gpu.lower() in ("", ANY):
        raise InputError("flags are for one kind of GPU: name it")
    shape = model if isinstance(model, ModelShape) else find_model(model, find_defaults)
    if parameters is not None:
        shape = replace(shape, parameters=parameters, has_exact_parameters=False)
    ignores_scheme = engine and find_engine(engine) in (LLAMA_CPP, TRANSFORMERS)
    dtype = dtype or ("bfloat16" if ignores_scheme else shape.cache_dtype)
    report = measure_cache(shape, tokens, batch, dtype, source_tokens)
    if not gpu:
        return report
    is_any, known = gpu.lower() == ANY, read_gpus()
    if not is_any:
        check_one_of("gpu", gpu.lower(), known)
    kind, number = (next(iter(known.values())), 1) if is_any else (known[gpu.lower()], gpus)
    weights = weight_dtype or find_weight_format(shape)
    deployment = Deployment(
        *(shape, kind, number, weights, dtype, overhead, percent, block, source_tokens),
        *(HEADS if is_any else split, ways),
    )
    if is_any:
        plans = plan_every_gpu(deployment, tokens, batch)
        return replace(report, plans=tuple(map(report_plan, plans)))
    report = replace(report, fit=report_fit(deployment, tokens, batch))
    if not engine:
        return report
    name = find_engine(engine)
    command = make_command(deployment, tokens, batch, name)
    return replace(report, command=command, no_command=explain_obstacle(deployment, tokens, name))


def measure_cache(
    shape: ModelShape, tokens: int, batch: int, dtype: str, source_tokens: int | None
) -> CacheReport:
    """The cache alone, on no GPU."""
    working = explain_cache(shape, tokens, batch, dtype, source_tokens=source_tokens)
    extra_bytes = count_extra_bytes(shape, tokens, batch)
    notes = [*shape.notes, *filter(None, [warn_beyond_context(shape, tokens)])]
    return CacheReport(
        model=shape.id,
        tokens=tokens,
        batch=batch,
        dtype=dtype,
        cache_bytes=working.size,
        extra_bytes=extra_bytes,
        total_bytes=working.size + extra_bytes,
        bytes_per_token=count_bytes_per_token(shape, dtype),
        groups=tuple(
            GroupReport(cache.group.kind, cache.group.count, cache.tokens, cache.size)
            for cache in list_group_caches(shape, tokens, dtype, source_tokens)
        ),
        working=working.lines,
        left_out=shape.gaps,
        notes=tuple(notes),
        sources=shape.sources,
    )


def report_plan(plan: GpuPlan) -> PlanReport:
    """One kind of GPU, as plain numbers."""
    speed = plan.tokens_per_second
    return PlanReport(
        plan.gpu.id,
        plan.gpus,
        plan.users,
        None if plan.gpus is None else plan.free_bytes_per_gpu,
        plan.limit,
        None if speed is None else round(float(speed), 1),
        plan.longest_on_one,
    )


def report_fit(deployment: Deployment, tokens: int, batch: int) -> FitReport:
    """What the GPUs have room for, and how fast they could be at best with what fits."""
    users = count_users(deployment, tokens)
    served = batch if users is None else min(batch, users)
    speed = estimate_tokens_per_second(deployment, tokens, served) if served else None
    return FitReport(
        gpu=deployment.gpu.id,
        gpus=deployment.gpus,
        weight_dtype=find_format(deployment.weight_dtype).name,
        weight_bytes=count_weight_bytes(deployment),
        free_bytes_per_gpu=count_free_bytes_per_gpu(deployment),
        text_bytes_per_gpu=count_text_bytes_per_gpu(deployment, tokens),
        texts_that_fit=users,
        longest_context=find_longest_context(deployment, batch),
        tokens_per_second=None if speed is None else round(float(speed), 1),
    )


def find_model(model: str | Path, find_defaults: FindDefaults = know_no_class) -> ModelShape:
    """The shape of a published model or of a config.json; ValueError names what is like it."""
    if str(model) in list_model_ids():
        return find_shape(str(model))
    is_there = False
    with suppress(OSError, ValueError):  # too long for a path, or not one at all
        is_there = Path(model).exists()
    if is_there:
        return read_config_file(model, find_defaults)
    raise InputError(
        "there is no model and no file {name}{similar}",
        name=shorten_value(str(model)),
        similar=suggest_similar(str(model), list_model_ids()),
    )


def find_engine(name: str) -> str:
    """The engine of that name, in capitals or not."""
    check_one_of("engine", ENGINES.get(name.lower(), name), ENGINES.values())
    return ENGINES[name.lower()]


def suggest_similar(name: str, known: tuple[str, ...]) -> str:
    """The end of a sentence with names like this one; "" if there are none."""
    similar = difflib.get_close_matches(name.lower().rpartition("/")[2], known, n=3)
    return N_("; there is {names}", names=", ".join(similar)) if similar else ""
