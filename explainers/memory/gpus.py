"""Accelerators as their makers describe them: memory, bandwidth, and dense speed at 16 bits."""

import functools
import json
from dataclasses import dataclass
from pathlib import Path

from explainers.memory.checks import whole

FILE = Path(__file__).parents[2] / "assets" / "gpus.json"
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
            whole(field, getattr(self, field))

    @property
    def memory(self) -> int:
        """Bytes: as reported, or the maker's GB taken for GiB."""
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
def gpus() -> dict[str, Gpu]:
    """id: card, in the order of the file."""
    entries = json.loads(FILE.read_text(encoding="utf-8"))
    return {entry["id"]: Gpu(**{**entry, "sources": tuple(entry["sources"])}) for entry in entries}
