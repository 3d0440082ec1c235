"""A model served by GPUs: whether it fits, for how many users, and how long their texts may be.

>>> read_gpus()["h100"].memory_gb
80
"""

import functools
import json
from dataclasses import dataclass

from explainers.folders import ASSETS
from explainers.memory.cache_bytes import (
    FORMATS,
    PACKED,
    STORED_BYTES,
    UNKNOWN,
    NumberFormat,
    count_extra_bytes,
    count_paged_bytes,
    find_format,
)
from explainers.memory.cache_formula import write_total
from explainers.memory.checked_fields import check_whole
from explainers.memory.model_shapes import ModelShape
from explainers.memory.sharding import (
    GIB,
    HEADS,
    LAYERS,
    TEXTS,
    TOKENS,
    check_split,
    count_copies,
    estimate_overhead,
    place_shape,
    share_weights,
)
from explainers.messages import N_, InputError, Message, ngettext

GPU_FILE = ASSETS / "gpus.json"
MIB = 2**20


@dataclass(frozen=True)
class Gpu:
    """One card; its "GB" of memory are close to GiB, those of its bandwidth are 10⁹ bytes.

    `memory_mib` is what its driver reports where somebody printed it: up to 6 % less than the GiB.
    """

    id: str
    name: str
    memory_gb: int
    bandwidth_gb_s: int
    tflops: int
    sources: tuple[str, ...] = ()
    memory_mib: int | None = None

    def __post_init__(self) -> None:
        for field in ("memory_gb", "bandwidth_gb_s", "tflops"):
            check_whole(field, getattr(self, field))

    @property
    def memory_bytes(self) -> int:
        """Bytes of memory: as the driver reports them, or the maker's GB taken for GiB."""
        return self.memory_gb * GIB if self.memory_mib is None else self.memory_mib * MIB

    @property
    def bandwidth(self) -> int:
        """Bytes that it can read from its memory in a second."""
        return self.bandwidth_gb_s * 10**9

    @property
    def flops(self) -> int:
        """Multiplications and additions in a second, at 16 bits, without sparsity."""
        return self.tflops * 10**12


@functools.cache
def read_gpus() -> dict[str, Gpu]:
    """All GPUs by id, in the order of the file."""
    entries = json.loads(GPU_FILE.read_text(encoding="utf-8"))
    return {entry["id"]: Gpu(**{**entry, "sources": tuple(entry["sources"])}) for entry in entries}


MAX_TOKENS = 10**12
"""A cache that has not filled the memory after so many tokens has stopped growing."""


@dataclass(frozen=True)
class Deployment:
    """The choices of somebody who serves a model; `overhead` (bytes) is estimated if it is None.

    `split` is how the GPUs divide the model, `ways` how often; 0: as often as can be.
    """

    shape: ModelShape
    gpu: Gpu
    gpus: int = 1
    weight_dtype: str | NumberFormat = "bfloat16"
    cache_dtype: str | NumberFormat = "bfloat16"
    overhead: int | None = None
    percent: int = 90
    block: int = 1
    source_tokens: int | None = None
    split: str = HEADS
    ways: int = 0

    def __post_init__(self) -> None:
        check_whole("gpus", self.gpus)
        if self.overhead is not None:
            check_whole("overhead", self.overhead, 0)
        check_whole("block", self.block)
        if check_whole("percent", self.percent) > 100:
            raise InputError(
                "percent must be a whole number from 1 to 100, not {percent}", percent=self.percent
            )
        check_split(self.shape, self.gpus, self.split, self.parts)
        self.part  # noqa: B018 - what cannot be divided is refused here

    @property
    def parts(self) -> int:
        """How many ways layers, texts or tokens are divided; heads are over what remains."""
        if self.split == HEADS:
            return 1
        most = count_copies(self.shape, self.gpus) if self.split == TOKENS else self.gpus
        return self.ways or most

    @property
    def ranks(self) -> int:
        """How many GPUs divide the heads of a layer."""
        return self.gpus // self.parts if self.split in (LAYERS, TEXTS) else self.gpus

    @property
    def replicas(self) -> int:
        """How many groups of GPUs have texts of their own."""
        return self.parts if self.split == TEXTS else 1

    @functools.cached_property
    def part(self) -> ModelShape:
        """The part of the model that a GPU holds."""
        return place_shape(self.shape, self.gpus, self.split, self.parts)

    @functools.cached_property
    def reserved(self) -> int:
        """Bytes on each GPU besides weights and caches: as chosen, or else estimated."""
        return sum(self.list_reserved()) if self.overhead is None else self.overhead

    def list_reserved(self) -> tuple[int, ...]:
        """What is estimated: activations, CUDA graphs, buffers; 1 GiB where nothing is known."""
        memory = self.gpu.memory_bytes
        return estimate_overhead(self.part, memory, self.gpu.name, self.ranks) or (GIB,)


def require_parameters(shape: ModelShape) -> int:
    """How many parameters a model has; raises ValueError where nobody published it."""
    if shape.parameters is None:
        raise InputError("{model}: parameters are not published; give a number", model=shape.id)
    return check_whole("parameters", shape.parameters)


def count_weight_bytes(deployment: Deployment) -> int:
    """Bytes of all weights, those of every expert included."""
    number_format = find_format(deployment.weight_dtype)
    return number_format.count_weight_bytes(require_parameters(deployment.shape))


def find_weight_format(shape: ModelShape) -> str:
    """The format of a model's published weights, or bfloat16 where we do not know it.

    A mixture counts as its smallest format: gpt-oss keeps a little more, in bfloat16. ValueError
    where the file names a quantization that is not known here.
    """
    if shape.dtype.startswith(UNKNOWN):
        raise InputError(
            "weights in {method}: their size is not known here; choose their format "
            "(--weight-dtype, or Weights in under More)",
            method=shape.dtype.removeprefix(UNKNOWN),
        )
    if PACKED.fullmatch(shape.dtype) or STORED_BYTES.fullmatch(shape.dtype):
        return shape.dtype
    name = shape.dtype.partition(" ")[0]
    name = "fp8" if name.startswith("float8") else name
    return name if name in FORMATS else "bfloat16"


def count_weight_bytes_per_gpu(deployment: Deployment) -> int:
    """Bytes of weights on one GPU, of stages on the largest; heads are split evenly."""
    size, one = count_weight_bytes(deployment), deployment
    return share_weights(one.shape, size, one.gpus, one.split, one.parts)


def count_free_bytes_per_gpu(deployment: Deployment) -> int:
    """Bytes that one GPU has left for caches; below zero, the weights do not fit."""
    usable = deployment.gpu.memory_bytes * deployment.percent // 100
    return usable - count_weight_bytes_per_gpu(deployment) - deployment.reserved


def count_text_bytes_per_gpu(deployment: Deployment, tokens: int) -> int:
    """Bytes of one text on one GPU: its share of the heads, and all that cannot be split."""
    shape = deployment.part
    if deployment.split == TOKENS:
        tokens = -(-tokens // deployment.parts)
    cache = count_paged_bytes(
        shape,
        tokens,
        deployment.cache_dtype,
        block=deployment.block,
        source_tokens=deployment.source_tokens,
    )
    return cache + count_extra_bytes(shape, tokens)


def count_users(deployment: Deployment, tokens: int) -> int | None:
    """How many texts of `tokens` tokens fit at once; None if a text takes no memory."""
    text_bytes = count_text_bytes_per_gpu(deployment, tokens)
    free_bytes = count_free_bytes_per_gpu(deployment)
    if free_bytes < 0:
        return 0
    return deployment.replicas * (free_bytes // text_bytes) if text_bytes else None


def has_room(deployment: Deployment, tokens: int, readers: int = 1) -> bool:
    """Whether weights, overhead and the caches of all readers fit into the memory."""
    here = -(-check_whole("readers", readers) // deployment.replicas)
    cache_bytes = here * count_text_bytes_per_gpu(deployment, tokens)
    return cache_bytes <= count_free_bytes_per_gpu(deployment)


def find_longest_context(deployment: Deployment, readers: int = 1) -> int | None:
    """The longest text that all readers may have; 0 if none fits, None if there is no limit."""
    if has_room(deployment, MAX_TOKENS, readers):
        return None
    low, high = 0, MAX_TOKENS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if has_room(deployment, middle, readers) else (low, middle)
    return low


STATED_NOTE = Message(N_(" (a stated, rounded number)"), {})


def explain_memory(deployment: Deployment, tokens: int) -> tuple[str, ...]:
    """The arithmetic of the memory: weights, what is left, and how many texts fit into it."""
    weight_bytes, free_bytes = count_weight_bytes(deployment), count_free_bytes_per_gpu(deployment)
    text_bytes = count_text_bytes_per_gpu(deployment, tokens)
    stated_note = "" if deployment.shape.has_exact_parameters else STATED_NOTE
    number_format, memory_bytes = find_format(deployment.weight_dtype), deployment.gpu.memory_bytes
    usable_bytes = memory_bytes * deployment.percent // 100
    lines = [
        N_(
            "{count:,} parameters{exact} in {format}: {size}",
            count=deployment.shape.parameters,
            exact=stated_note,
            format=number_format.name,
            size=write_total(weight_bytes),
        ),
        N_(
            "usable on each GPU: {memory:,} bytes × {percent} % = {usable:,} bytes",
            memory=memory_bytes,
            percent=deployment.percent,
            usable=usable_bytes,
        ),
        N_(
            "left for caches: {usable:,} − {weights:,} weights − {overhead:,} overhead "
            "(an estimate) = {free} bytes",
            usable=usable_bytes,
            weights=count_weight_bytes_per_gpu(deployment),
            overhead=deployment.reserved,
            free=f"{free_bytes:,}".replace("-", "−"),
        ),
        N_(
            "one text of {tokens:,} tokens on each GPU: {size}",
            tokens=tokens,
            size=write_total(text_bytes),
        ),
    ]
    if deployment.overhead is None and len(parts := deployment.list_reserved()) > 1:
        activations, graphs, outside = parts
        lines.insert(
            2,
            N_(
                "overhead, as vLLM has it: {activations:,} of activations + {graphs:,} of CUDA "
                "graphs + {outside:,} outside PyTorch = {sum:,} bytes",
                activations=activations,
                graphs=graphs,
                outside=outside,
                sum=sum(parts),
            ),
        )
    return (*lines, explain_capacity(deployment, tokens))


def explain_capacity(deployment: Deployment, tokens: int) -> str:
    """A line that says how many texts of `tokens` tokens fit into what is left."""
    free_bytes = count_free_bytes_per_gpu(deployment)
    text_bytes = count_text_bytes_per_gpu(deployment, tokens)
    if count_weight_bytes_per_gpu(deployment) > deployment.gpu.memory_bytes:
        return N_("The weights alone are more than the memory.")
    if free_bytes < 0:
        return N_("Weights and overhead are more than what is usable, without any text.")
    readers = count_users(deployment, tokens)
    if readers is None:
        return N_("A text takes no cache: memory sets no limit.")
    texts = ngettext("{count:,} text", "{count:,} texts", readers)
    if (groups := deployment.replicas) > 1:
        return N_(
            "{free:,} ÷ {one:,} (rounded down) × {groups} = {texts} at once",
            free=free_bytes,
            one=text_bytes,
            groups=groups,
            texts=texts,
        )
    return N_(
        "{free:,} ÷ {one:,} = {texts} at once (rounded down)",
        free=free_bytes,
        one=text_bytes,
        texts=texts,
    )


def explain_longest_context(deployment: Deployment, readers: int = 1) -> str:
    """A line with the longest text, and the check that one more token would not fit."""
    longest = find_longest_context(deployment, readers)
    if longest is None:
        return N_("The cache stops growing before the memory is full: no limit on the length.")
    if not longest:
        return N_("Not even one token fits.")
    free_bytes = count_free_bytes_per_gpu(deployment)
    here = -(-readers // deployment.replicas)
    bytes_at_longest = here * count_text_bytes_per_gpu(deployment, longest)
    bytes_beyond = here * count_text_bytes_per_gpu(deployment, longest + 1)
    return N_(
        "longest text: {longest:,} tokens ({now:,} ≤ {free:,} < {then:,} bytes)",
        longest=longest,
        now=bytes_at_longest,
        free=free_bytes,
        then=bytes_beyond,
    )
