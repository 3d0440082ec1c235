"""What vLLM keeps besides weights and caches: activations, CUDA graphs, buffers outside PyTorch.

The formula is compared with what servers printed when they started: `python -m
explainers.memory.working_memory` lists them. Models with experts need more while they read.
"""

from fractions import Fraction
from typing import NamedTuple

from explainers import kept
from explainers.memory.cache_bytes import count_bytes_per_token
from explainers.memory.model_shapes import ModelShape, find_shape
from explainers.memory.sharding import count_layers, split_shape

GIB = 2**30
LARGE_MEMORY, LARGE_STEP, USUAL_STEP = 70 * GIB, (8_192, 1_024), (2_048, 256)
"""Tokens that vLLM reads at once and texts that it goes on with, by the memory of the GPU: its
`EngineArgs` have fewer for smaller ones and for the A100."""
LOGIT_BYTES = {"sorted": Fraction("38.3"), "since 0.17": Fraction("14.8")}
"""Bytes for each text and word of the vocabulary while the next words are chosen: vLLM sorted
them before 0.17, unless it had FlashInfer."""
OUTSIDE = {"before 0.18": (13, 55), "since 0.18": (25, 210)}
"""Hundredths of a GiB that libraries keep on one GPU alone, and where several divide heads."""
GRAPHS, GRAPH_BYTES = 86, 250_000
"""Graphs of 51 numbers of tokens, 35 of them twice; bytes of each in a layer: vLLM 0.19 printed
0.51 to 1.85 GiB for 26 to 80 layers."""


def count_activations(
    shape: ModelShape, step: tuple[int, int], ranks: int = 1, chosen: str = "since 0.17"
) -> int | None:
    """Bytes at the peak of a step of (tokens, texts) on each of `ranks` GPUs that divide heads.

    The most is needed either inside a layer, which holds four rows of the model's width and three
    of the feed-forward layer for each token, or when the next words are chosen. None where the
    vocabulary is not known, or there is none to choose from.
    """
    if not shape.vocabulary or shape.architecture != "decoder":
        return None
    tokens, texts = step
    inside = 2 * tokens * (4 * shape.d_model + 3 * shape.ffn_dim // ranks)
    choosing = LOGIT_BYTES[chosen] * texts * shape.vocabulary
    return max(inside, int(choosing) + 2 * shape.d_model * (tokens + texts))


def count_graph_bytes(shape: ModelShape) -> int:
    """Bytes of the CUDA graphs for one GPU's layers."""
    return GRAPHS * GRAPH_BYTES * count_layers(shape)


def count_outside(ranks: int, version: str = "since 0.18") -> int:
    """Bytes that libraries keep on each GPU outside PyTorch."""
    return OUTSIDE[version][ranks > 1] * GIB // 100


def estimate_overhead(
    shape: ModelShape, memory: int, name: str, ranks: int
) -> tuple[int, int, int] | None:
    """(activations, CUDA graphs, outside PyTorch) in bytes, on a GPU of that name and memory.

    `shape` is the part that the GPU holds. None where there is no formula.
    """
    is_large = memory >= LARGE_MEMORY and "a100" not in name.lower()
    activations = count_activations(shape, LARGE_STEP if is_large else USUAL_STEP, ranks)
    if activations is None:
        return None
    return activations, count_graph_bytes(shape), count_outside(ranks)


class ServerLog(NamedTuple):
    """What a server printed when it started, and what it had been told.

    GiB are those of one GPU. It printed the GiB of its cache, or the tokens that have room there.
    """

    model: str
    shape: str
    """The published model that has this width, vocabulary and cache."""
    version: str
    memory_gib: float
    percent: int
    gpus: int
    weights_gib: float
    is_large: bool
    chosen: str
    outside: str
    source: str
    cache_gib: float = 0
    tokens: int = 0
    dtype: str = "bfloat16"

    def predict(self) -> float:
        """The same by the formula, from all but what was printed of the cache."""
        shape, step = find_shape(self.shape), LARGE_STEP if self.is_large else USUAL_STEP
        needed = count_outside(self.gpus, self.outside)
        needed += count_activations(shape, step, self.gpus, self.chosen) or 0
        room = self.memory_gib * self.percent / 100 - self.weights_gib - needed / GIB
        rate = count_bytes_per_token(split_shape(shape, self.gpus), self.dtype)
        return room * GIB / rate if self.tokens else room


def read_logs() -> tuple[ServerLog, ...]:
    """The published logs that the formula was compared with."""
    return tuple(ServerLog(**entry) for entry in kept.read("server_logs").numbers["logs"])


if __name__ == "__main__":
    for log in read_logs():
        printed, predicted = log.tokens or log.cache_gib, log.predict()
        difference = 100 * (predicted / printed - 1)
        print(f"{difference:+6.2f} %  {predicted:12,.2f}  {printed:12,}  {log.model}")
