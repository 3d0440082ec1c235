"""A model on a number of GPUs: does it fit, for how many readers, and how long may texts be."""

from dataclasses import dataclass

from explainers.memory.cache import beside_bytes
from explainers.memory.checks import whole
from explainers.memory.formats import FORMATS, Format, format_of
from explainers.memory.gpus import GIB, Gpu
from explainers.memory.groups import ModelShape
from explainers.memory.paging import paged_bytes
from explainers.memory.parallel import rank_shape
from explainers.phrase import phrase

LONGEST = 10**12
"""Tokens; a model whose cache has stopped growing by then never fills the memory."""


@dataclass(frozen=True)
class Deployment:
    """Choices of who serves a model; `overhead` is an estimate, and everybody's weakest number."""

    shape: ModelShape
    gpu: Gpu
    gpus: int = 1
    weight_dtype: str | Format = "bfloat16"
    cache_dtype: str | Format = "bfloat16"
    overhead: int = GIB
    percent: int = 90
    block: int = 1
    source_tokens: int | None = None
    beams: int = 1

    def __post_init__(self) -> None:
        whole("gpus", self.gpus)
        whole("overhead", self.overhead, 0)
        whole("block", self.block)
        whole("beams", self.beams)
        if whole("percent", self.percent) > 100:
            raise ValueError(
                phrase(
                    "percent must be a whole number from 1 to 100, not {percent}",
                    percent=self.percent,
                )
            )
        rank_shape(self.shape, self.gpus)


def weight_bytes(deployment: Deployment) -> int:
    """All weights, those of every expert too; of an estimated number of parameters if need be."""
    parameters = deployment.shape.parameters
    if parameters is None:
        raise ValueError(
            phrase(
                "{model}: parameters are not published; give a number", model=deployment.shape.id
            )
        )
    return format_of(deployment.weight_dtype).vector_bytes(1, whole("parameters", parameters))


def weight_format(shape: ModelShape) -> str:
    """The format that a model's weights were published in, as far as it is one of ours.

    A mixture counts as its smallest format: gpt-oss keeps a little more, in bfloat16.
    """
    published = shape.dtype.partition(" ")[0]
    published = "fp8" if published.startswith("float8") else published
    return published if published in FORMATS else "bfloat16"


def weights_on_each(deployment: Deployment) -> int:
    """The weights on one GPU, split evenly."""
    return -(-weight_bytes(deployment) // deployment.gpus)


def free_on_each(deployment: Deployment) -> int:
    """What one GPU has left for caches; below zero, the weights do not fit."""
    usable = deployment.gpu.memory * deployment.percent // 100
    return usable - weights_on_each(deployment) - deployment.overhead


def sequence_on_each(deployment: Deployment, tokens: int) -> int:
    """What one text takes on one GPU: its heads of the cache, and all that has no heads."""
    shape = rank_shape(deployment.shape, deployment.gpus)
    cache = paged_bytes(
        shape,
        tokens,
        1,
        deployment.cache_dtype,
        block=deployment.block,
        source_tokens=deployment.source_tokens,
        beams=deployment.beams,
    )
    return cache + deployment.beams * beside_bytes(shape, tokens)


def users(deployment: Deployment, tokens: int) -> int | None:
    """How many texts of so many tokens fit at once; None if a text takes nothing."""
    one, free = sequence_on_each(deployment, tokens), free_on_each(deployment)
    if free < 0:
        return 0
    return free // one if one else None


def fits(deployment: Deployment, tokens: int, readers: int = 1) -> bool:
    """Whether weights, overhead and the caches of all readers go into the memory."""
    caches = whole("readers", readers) * sequence_on_each(deployment, tokens)
    return caches <= free_on_each(deployment)


def longest_context(deployment: Deployment, readers: int = 1) -> int | None:
    """The longest text that all readers may have; 0 if none fits, None if there is no limit."""
    if fits(deployment, LONGEST, readers):
        return None
    low, high = 0, LONGEST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(deployment, middle, readers) else (low, middle)
    return low
