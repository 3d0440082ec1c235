"""What vLLM keeps besides weights and caches: activations, CUDA graphs, buffers outside PyTorch.

The formula is compared with what servers printed when they started: `python -m
explainers.memory.working_memory` lists them. Models with experts need more while they read.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

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


def predict_log(log: Mapping[str, Any]) -> tuple[float, float]:
    """(what a server printed, the same by the formula): the GiB of its cache on each GPU, or the
    tokens that have room there.

    `shape` names the published model that has the width, vocabulary and cache of the one it ran.
    """
    shape, gpus = find_shape(log["shape"]), log["gpus"]
    step = LARGE_STEP if log["is_large"] else USUAL_STEP
    needed = count_outside(gpus, log["outside"])
    needed += count_activations(shape, step, gpus, log["chosen"]) or 0
    room = log["memory_gib"] * log["percent"] / 100 - log["weights_gib"] - needed / GIB
    if "tokens" not in log:
        return log["cache_gib"], room
    rate = count_bytes_per_token(split_shape(shape, gpus), log.get("dtype", "bfloat16"))
    return log["tokens"], room * GIB / rate


def read_logs() -> list[dict[str, Any]]:
    """The published logs that the formula is compared with."""
    logs: list[dict[str, Any]] = kept.read("server_logs").numbers["logs"]
    return logs


if __name__ == "__main__":
    for log in read_logs():
        printed, predicted = predict_log(log)
        difference = 100 * (predicted / printed - 1)
        print(f"{difference:+6.2f} %  {predicted:12,.2f}  {printed:12,}  {log['model']}")
