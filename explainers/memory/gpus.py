"""GPUs as their makers describe them, and heads split over several of them."""

import functools
import json
from dataclasses import dataclass, replace
from fractions import Fraction

from explainers.folders import ASSETS
from explainers.memory.cache_bytes import count_cache_bytes
from explainers.memory.field_checks import check_whole
from explainers.memory.layer_groups import KINDS_WITH_HEADS, LayerGroup, ModelShape
from explainers.messages import N_

GPU_FILE = ASSETS / "gpus.json"
GIB, MIB = 2**30, 2**20


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


def split_shape(shape: ModelShape, ranks: int) -> ModelShape:
    """The part of a model that one of `ranks` GPUs holds: its heads, and every latent in full.

    Recurrent states stay whole: how an engine splits them is not known, so this is the most.
    """
    check_whole("ranks", ranks)
    if shape.num_heads % ranks:
        raise ValueError(
            N_(
                "{heads} query heads cannot be split over {ranks} ranks",
                heads=shape.num_heads,
                ranks=ranks,
            )
        )
    groups = tuple(split_group(group, ranks) for group in shape.require_groups())
    return replace(shape, groups=groups, num_heads=shape.num_heads // ranks)


def split_group(group: LayerGroup, ranks: int) -> LayerGroup:
    """One group of layers on one rank; a latent has no heads to split, so it stays."""
    if group.kind not in KINDS_WITH_HEADS:
        return group
    num_kv_heads = group.num_kv_heads
    if num_kv_heads % ranks and ranks % num_kv_heads:
        raise ValueError(
            N_(
                "{heads} KV heads can neither be split over {ranks} ranks nor repeated",
                heads=num_kv_heads,
                ranks=ranks,
            )
        )
    return replace(group, num_kv_heads=max(1, num_kv_heads // ranks))


def count_stored_copies(
    shape: ModelShape, ranks: int, tokens: int, source_tokens: int | None = None
) -> Fraction:
    """How many times all ranks together store a cache: 1 while every rank has its own KV heads."""
    rank_shape = split_shape(shape, ranks)
    one_gpu_bytes = count_cache_bytes(shape, tokens, source_tokens=source_tokens)
    all_gpu_bytes = ranks * count_cache_bytes(rank_shape, tokens, source_tokens=source_tokens)
    return Fraction(all_gpu_bytes, one_gpu_bytes) if one_gpu_bytes else Fraction(1)
