"""Which GPUs a wish needs, what limits them, and how fast they can generate at most."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from explainers.memory.cache_bytes import find_format
from explainers.memory.cache_formula import round_quotient
from explainers.memory.checked_fields import check_whole
from explainers.memory.serving import (
    Deployment,
    Gpu,
    count_free_bytes_per_gpu,
    count_text_bytes_per_gpu,
    count_users,
    count_weight_bytes,
    count_weight_bytes_per_gpu,
    find_longest_context,
    has_room,
    read_gpus,
    require_parameters,
)
from explainers.messages import N_, Message


def count_active_parameters(deployment: Deployment) -> int:
    """Parameters that one token uses: of a mixture of experts, those of its experts only."""
    return deployment.shape.active_parameters or require_parameters(deployment.shape)


def count_weight_bytes_read(deployment: Deployment) -> int:
    """Bytes of weights that each GPU reads in a step, if all texts choose the same experts."""
    weight_bytes = find_format(deployment.weight_dtype).count_weight_bytes(
        count_active_parameters(deployment)
    )
    share = Fraction(count_weight_bytes_per_gpu(deployment), count_weight_bytes(deployment))
    least = -(-weight_bytes // deployment.gpus)
    return least if deployment.parts == 1 else math.ceil(weight_bytes * share)


def estimate_reading_seconds(deployment: Deployment, tokens: int, batch: int = 1) -> Fraction:
    """Seconds to read weights and caches once, at the full bandwidth of the memory."""
    texts = Fraction(check_whole("batch", batch), deployment.replicas)
    cache_bytes = texts * count_text_bytes_per_gpu(deployment, tokens)
    return (count_weight_bytes_read(deployment) + cache_bytes) / deployment.gpu.bandwidth


def estimate_computing_seconds(deployment: Deployment, batch: int = 1) -> Fraction:
    """Seconds to compute a step: two operations for each active parameter and text.

    The scores of attention are left out.
    """
    operations = 2 * count_active_parameters(deployment) * check_whole("batch", batch)
    return Fraction(operations, deployment.gpu.flops * deployment.gpus)


def estimate_tokens_per_second(deployment: Deployment, tokens: int, batch: int = 1) -> Fraction:
    """Tokens per second of all texts together at the most; measured speeds are lower.

    A step takes as long as the longer of reading and computing.
    """
    reading = estimate_reading_seconds(deployment, tokens, batch)
    return batch / max(reading, estimate_computing_seconds(deployment, batch))


def find_turning_point(deployment: Deployment, tokens: int) -> Fraction | None:
    """From how many texts on computing takes longer than reading; None if it never does."""
    bandwidth = deployment.gpu.bandwidth
    weights = Fraction(count_weight_bytes_read(deployment), bandwidth)
    cache = Fraction(count_text_bytes_per_gpu(deployment, tokens), deployment.replicas * bandwidth)
    gain = estimate_computing_seconds(deployment) - cache
    return weights / gain if gain > 0 else None


def find_compute_bound_batch(deployment: Deployment, tokens: int) -> int | None:
    """The smallest batch that computes as long as it reads; None if caches always take longer."""
    turning_point = find_turning_point(deployment, tokens)
    return None if turning_point is None else math.ceil(turning_point)


AT_BEST_NOTE = Message(N_(" (at best: all texts choose the same experts)"), {})


def explain_speed(deployment: Deployment, tokens: int, batch: int = 1) -> tuple[str, ...]:
    """Lines with the limit of the bandwidth, that of the arithmetic, and which one binds."""
    weight_bytes = count_weight_bytes_read(deployment)
    text_bytes = count_text_bytes_per_gpu(deployment, tokens)
    reading_seconds = estimate_reading_seconds(deployment, tokens, batch)
    computing_seconds = estimate_computing_seconds(deployment, batch)
    active_parameters, gpu = count_active_parameters(deployment), deployment.gpu
    compute_bound_batch = find_compute_bound_batch(deployment, tokens)
    tokens_per_second = round_fraction(estimate_tokens_per_second(deployment, tokens, batch))
    return (
        N_(
            "read in a step by each GPU: {weights:,} of weights{at_best} + {batch:,} × {one:,} "
            "of caches = {sum:,} bytes",
            weights=weight_bytes,
            at_best="" if deployment.shape.active_parameters is None else AT_BEST_NOTE,
            batch=batch,
            one=text_bytes,
            sum=weight_bytes + batch * text_bytes,
        ),
        N_(
            "÷ {bandwidth:,} bytes a second = {time} ms",
            bandwidth=gpu.bandwidth,
            time=round_fraction(reading_seconds * 1000, 3),
        ),
        N_(
            "computed with the weights in a step: 2 × {active:,} parameters × {batch:,} ÷ "
            "({flops:,} × {gpus}) = {time} ms",
            active=active_parameters,
            batch=batch,
            flops=gpu.flops,
            gpus=deployment.gpus,
            time=round_fraction(computing_seconds * 1000, 3),
        ),
        N_("at most {speed} tokens a second: limited by reading", speed=tokens_per_second)
        if reading_seconds >= computing_seconds
        else N_("at most {speed} tokens a second: limited by computing", speed=tokens_per_second),
        N_("computing takes over from {count:,} texts on", count=compute_bound_batch)
        if compute_bound_batch is not None
        else N_("reading weights and caches takes longer than computing, for any number of texts"),
    )


def round_fraction(fraction: Fraction, decimals: int = 1) -> Decimal:
    """A fraction rounded to so many `decimals`."""
    return round_quotient(fraction.numerator, fraction.denominator, decimals)


GPU_NUMBERS = (1, 2, 4, 8, 16)
"""Numbers of GPUs that servers have."""
MEMORY, BANDWIDTH, COMPUTE = "memory", "bandwidth", "compute"


def find_limit(deployment: Deployment, tokens: int, texts: int = 1) -> str:
    """What limits so many texts: not enough room, or else the slower half of a step.

    ValueError where the number of parameters is not known.
    """
    if not has_room(deployment, tokens, texts):
        return MEMORY
    reading = estimate_reading_seconds(deployment, tokens, texts)
    return COMPUTE if estimate_computing_seconds(deployment, texts) > reading else BANDWIDTH


@dataclass(frozen=True)
class GpuPlan:
    """One kind of GPU for a wish: the fewest that hold it, and the longest text on a single one.

    `gpus` is None if no number of them holds it; then there are no users and no speed. `users` is
    None where texts take no memory, `longest_on_one` where there is no limit; it is 0 where one
    GPU does not even hold the weights.
    """

    gpu: Gpu
    gpus: int | None
    users: int | None
    free_bytes_per_gpu: int
    limit: str
    tokens_per_second: Fraction | None
    longest_on_one: int | None


def plan_every_gpu(deployment: Deployment, tokens: int, texts: int = 1) -> tuple[GpuPlan, ...]:
    """The same wish on each kind of GPU, in the order of the list."""
    each = (replace(deployment, gpu=gpu, gpus=1) for gpu in read_gpus().values())
    return tuple(plan_gpu(one, tokens, texts) for one in each)


def plan_gpu(deployment: Deployment, tokens: int, texts: int) -> GpuPlan:
    """How many of this GPU, what they leave room for, and what limits them there."""
    longest = find_longest_context(deployment)
    enough = find_fewest_gpus(deployment, tokens, texts)
    if enough is None:
        return GpuPlan(deployment.gpu, None, None, 0, MEMORY, None, longest)
    used = -(-texts // enough.replicas) * count_text_bytes_per_gpu(enough, tokens)
    return GpuPlan(
        gpu=deployment.gpu,
        gpus=enough.gpus,
        users=count_users(enough, tokens),
        free_bytes_per_gpu=count_free_bytes_per_gpu(enough) - used,
        limit=find_limit(enough, tokens, texts),
        tokens_per_second=estimate_tokens_per_second(enough, tokens, texts),
        longest_on_one=longest,
    )


def list_splits(
    deployment: Deployment, numbers: Sequence[int] = GPU_NUMBERS
) -> tuple[Deployment, ...]:
    """The same on each number of GPUs that the model's heads can be split over."""
    splits = []
    for number in numbers:
        try:
            splits.append(replace(deployment, gpus=number))
        except ValueError:  # these heads cannot be split so
            continue
    return tuple(splits)


def find_fewest_gpus(deployment: Deployment, tokens: int, texts: int = 1) -> Deployment | None:
    """The fewest GPUs that hold `texts` texts of `tokens` tokens; None if no number does."""
    splits = list_splits(deployment)
    return next((split for split in splits if has_room(split, tokens, texts)), None)


def estimate_reach(deployment: Deployment, tokens: int) -> Fraction | None:
    """How many texts of `tokens` tokens would fit if a part of a text were one; None: any number.

    Its whole part is `count_users` where all GPUs hold all texts: a contour of what fits goes
    through these points.
    """
    text_bytes = count_text_bytes_per_gpu(deployment, tokens)
    free_bytes = max(0, count_free_bytes_per_gpu(deployment))
    return Fraction(deployment.replicas * free_bytes, text_bytes) if text_bytes else None
