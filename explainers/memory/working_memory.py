"""What vLLM keeps besides weights and caches: activations, CUDA graphs, buffers outside PyTorch.

The formula is compared with what servers printed when they started: `python -m
workshop.server_logs` lists them. Models with experts need more while they read.
"""

from fractions import Fraction

from explainers.memory.model_shapes import ModelShape
from explainers.memory.sharding import count_layers

GIB = 2**30
LARGE_MEMORY, LARGE_STEP, USUAL_STEP = 70 * GIB, (8_192, 1_024), (2_048, 256)
"""Tokens that vLLM reads at once and texts that it goes on with, by the memory of the GPU: its
`EngineArgs` have fewer for smaller ones and for the A100."""
LOGIT_BYTES = Fraction("14.8")
"""Bytes for each text and word of the vocabulary while the next words are chosen: vLLM 0.17."""
OUTSIDE = 25, 210
"""Hundredths of a GiB that libraries keep on one GPU alone, and where several divide heads: vLLM
0.18."""
GRAPHS, GRAPH_BYTES = 86, 250_000
"""Graphs of 51 numbers of tokens, 35 of them twice; bytes of each in a layer: vLLM 0.19 printed
0.51 to 1.85 GiB for 26 to 80 layers."""


def count_activations(
    shape: ModelShape, step: tuple[int, int], ranks: int = 1, logit_bytes: Fraction = LOGIT_BYTES
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
    choosing = logit_bytes * texts * shape.vocabulary
    return max(inside, int(choosing) + 2 * shape.d_model * (tokens + texts))


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
    graphs = GRAPHS * GRAPH_BYTES * count_layers(shape)
    return activations, graphs, OUTSIDE[ranks > 1] * GIB // 100
