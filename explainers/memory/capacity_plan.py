"""Which GPUs a wish needs, what they leave room for, and what limits them there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from explainers.memory.serving import (
    Deployment,
    Gpu,
    count_free_bytes_per_gpu,
    count_text_bytes_per_gpu,
    count_users,
    find_longest_context,
    has_room,
    read_gpus,
)
from explainers.memory.speed import (
    count_weight_bytes_read,
    estimate_computing_seconds,
    estimate_reading_seconds,
    estimate_tokens_per_second,
)

GPU_NUMBERS = (1, 2, 4, 8, 16)
"""Numbers of GPUs that servers have."""
MEMORY, BANDWIDTH, COMPUTE = "memory", "bandwidth", "compute"


@dataclass(frozen=True)
class Limit:
    """What limits so many texts: not enough room, or else the slower half of a step.

    `missing` are the bytes that each GPU lacks; the seconds are those of one step.
    """

    name: str
    missing: int
    reading: Fraction
    computing: Fraction


def find_limit(deployment: Deployment, tokens: int, texts: int = 1) -> Limit:
    """Whether memory, bandwidth or computing limits `texts` texts of `tokens` tokens.

    ValueError where the number of parameters is not known.
    """
    reading = estimate_reading_seconds(deployment, tokens, texts)
    computing = estimate_computing_seconds(deployment, texts)
    needed = texts * count_text_bytes_per_gpu(deployment, tokens)
    missing = max(0, needed - count_free_bytes_per_gpu(deployment))
    name = MEMORY if missing else COMPUTE if computing > reading else BANDWIDTH
    return Limit(name, missing, reading, computing)


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


def plan_every_gpu(
    deployment: Deployment, tokens: int, texts: int = 1, gpus: Sequence[Gpu] = ()
) -> tuple[GpuPlan, ...]:
    """The same wish on each kind of GPU, in the order of the list."""
    return tuple(
        plan_gpu(replace(deployment, gpu=gpu, gpus=1), tokens, texts)
        for gpu in gpus or read_gpus().values()
    )


def plan_gpu(deployment: Deployment, tokens: int, texts: int) -> GpuPlan:
    """How many of this GPU, what they leave room for, and what limits them there."""
    longest = find_longest_context(deployment)
    enough = find_fewest_gpus(deployment, tokens, texts)
    if enough is None:
        return GpuPlan(deployment.gpu, None, None, 0, MEMORY, None, longest)
    used = texts * count_text_bytes_per_gpu(enough, tokens)
    return GpuPlan(
        gpu=deployment.gpu,
        gpus=enough.gpus,
        users=count_users(enough, tokens),
        free_bytes_per_gpu=count_free_bytes_per_gpu(enough) - used,
        limit=find_limit(enough, tokens, texts).name,
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


def find_fewest_gpus(
    deployment: Deployment, tokens: int, texts: int = 1, numbers: Sequence[int] = GPU_NUMBERS
) -> Deployment | None:
    """The fewest GPUs that hold `texts` texts of `tokens` tokens; None if no number does."""
    splits = list_splits(deployment, numbers)
    return next((split for split in splits if has_room(split, tokens, texts)), None)


def estimate_reach(deployment: Deployment, tokens: int) -> Fraction | None:
    """How many texts of `tokens` tokens would fit if a part of a text were one; None: any number.

    Its whole part is `count_users`: a contour of what fits goes through these points.
    """
    text_bytes = count_text_bytes_per_gpu(deployment, tokens)
    free_bytes = max(0, count_free_bytes_per_gpu(deployment))
    return Fraction(free_bytes, text_bytes) if text_bytes else None


def find_turning_point(deployment: Deployment, tokens: int) -> Fraction | None:
    """From how many texts on computing takes longer than reading; None if it never does."""
    bandwidth = deployment.gpu.bandwidth
    weights = Fraction(count_weight_bytes_read(deployment), bandwidth)
    cache = Fraction(count_text_bytes_per_gpu(deployment, tokens), bandwidth)
    gain = estimate_computing_seconds(deployment) - cache
    return weights / gain if gain > 0 else None
