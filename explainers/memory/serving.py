"""A model on a number of GPUs: does it fit, for how many readers, how long may texts be."""

from dataclasses import dataclass

from explainers.memory.cache_bytes import beside_bytes
from explainers.memory.engines import paged_bytes
from explainers.memory.gpus import GIB, Gpu, rank_shape
from explainers.memory.layer_groups import ModelShape
from explainers.memory.number_formats import FORMATS, Format, format_of
from explainers.memory.sizes import in_both, whole
from explainers.messages import N_, Message, ngettext

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
                N_(
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
            N_("{model}: parameters are not published; give a number", model=deployment.shape.id)
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


STATED = Message(N_(" (a stated, rounded number)"), {})


def memory_lines(deployment: Deployment, tokens: int) -> tuple[str, ...]:
    """Weights, what is left, and how many texts of so many tokens go into it."""
    weights, free = weight_bytes(deployment), free_on_each(deployment)
    one = sequence_on_each(deployment, tokens)
    exact = "" if deployment.shape.parameters_are_exact else STATED
    format_, memory = format_of(deployment.weight_dtype), deployment.gpu.memory
    usable = memory * deployment.percent // 100
    lines = [
        N_(
            "{count:,} parameters{exact} in {format}: {size}",
            count=deployment.shape.parameters,
            exact=exact,
            format=format_.name,
            size=in_both(weights),
        ),
        N_(
            "usable on each GPU: {memory:,} bytes × {percent} % = {usable:,} bytes",
            memory=memory,
            percent=deployment.percent,
            usable=usable,
        ),
        N_(
            "left for caches: {usable:,} − {weights:,} weights − {overhead:,} overhead "
            "(an estimate) = {free} bytes",
            usable=usable,
            weights=weights_on_each(deployment),
            overhead=deployment.overhead,
            free=f"{free:,}".replace("-", "−"),
        ),
        N_("one text of {tokens:,} tokens on each GPU: {size}", tokens=tokens, size=in_both(one)),
    ]
    return (*lines, verdict(deployment, tokens))


def verdict(deployment: Deployment, tokens: int) -> str:
    """How many texts of so many tokens go into what is left."""
    free, one = free_on_each(deployment), sequence_on_each(deployment, tokens)
    if weights_on_each(deployment) > deployment.gpu.memory:
        return N_("The weights alone are more than the memory.")
    if free < 0:
        return N_("Weights and overhead are more than what is usable, without any text.")
    readers = users(deployment, tokens)
    if readers is None:
        return N_("A text takes no cache: memory sets no limit.")
    return N_(
        "{free:,} ÷ {one:,} = {texts} at once (rounded down)",
        free=free,
        one=one,
        texts=ngettext("{count:,} text", "{count:,} texts", readers),
    )


def context_line(deployment: Deployment, readers: int = 1) -> str:
    """The longest text, with the check that one more token would not fit."""
    longest = longest_context(deployment, readers)
    if longest is None:
        return N_("The cache stops growing before the memory is full: no limit on the length.")
    if not longest:
        return N_("Not even one token fits.")
    free = free_on_each(deployment)
    now = readers * sequence_on_each(deployment, longest)
    then = readers * sequence_on_each(deployment, longest + 1)
    return N_(
        "longest text: {longest:,} tokens ({now:,} ≤ {free:,} < {then:,} bytes)",
        longest=longest,
        now=now,
        free=free,
        then=then,
    )
