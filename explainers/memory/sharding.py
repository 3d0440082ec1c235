"""How GPUs divide a model, by heads, layers, texts or tokens; and what each keeps besides.

>>> from explainers.memory.model_shapes import find_shape
>>> split_shape(find_shape("llama-3.1-8b"), 4).groups[0].num_kv_heads
2
"""

import math
from dataclasses import replace
from fractions import Fraction

from explainers.memory.cache_bytes import count_cache_bytes
from explainers.memory.checked_fields import check_one_of, check_whole
from explainers.memory.model_shapes import KINDS_WITH_HEADS, LayerGroup, ModelShape
from explainers.messages import N_, InputError

SPLITS = HEADS, LAYERS, TEXTS, TOKENS = N_("heads"), N_("layers"), N_("texts"), N_("tokens")
"""Tensor parallel; pipeline parallel; data-parallel attention, where each GPU has all heads for its
own texts; decode context parallel, where GPUs that would hold copies share the tokens of a text."""


def split_shape(shape: ModelShape, ranks: int) -> ModelShape:
    """The part of a model that one of `ranks` GPUs holds: its heads, and every latent in full.

    Recurrent states stay whole: how an engine splits them is not known, so this is the most.
    """
    check_whole("ranks", ranks)
    if shape.num_heads % ranks:
        raise InputError(
            "{heads} query heads cannot be split over {ranks} ranks",
            heads=shape.num_heads,
            ranks=ranks,
        )
    groups = tuple(split_group(group, ranks) for group in shape.require_groups())
    return replace(shape, groups=groups, num_heads=shape.num_heads // ranks)


def split_group(group: LayerGroup, ranks: int) -> LayerGroup:
    """One group of layers on one rank; a latent has no heads to split, so it stays."""
    if group.kind not in KINDS_WITH_HEADS:
        return group
    num_kv_heads = group.num_kv_heads
    if num_kv_heads % ranks and ranks % num_kv_heads:
        raise InputError(
            "{heads} KV heads can neither be split over {ranks} ranks nor repeated",
            heads=num_kv_heads,
            ranks=ranks,
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


def check_split(shape: ModelShape, gpus: int, split: str, ways: int) -> None:
    """Raise ValueError, with the numbers, where so many GPUs cannot be divided so."""
    check_one_of("split", split, SPLITS)
    if gpus % check_whole("ways", ways):
        raise InputError("{gpus} GPUs cannot be divided {ways} ways", gpus=gpus, ways=ways)
    layers = count_layers(shape)
    if split == LAYERS and ways > layers:
        raise InputError(
            "{layers} layers cannot be divided over {ways} GPUs", layers=layers, ways=ways
        )
    if split != TOKENS or gpus == 1:
        return
    for group in shape.require_groups():
        if group.kind not in ("full", "latent"):
            raise InputError("tokens of {kind} layers cannot be shared out", kind=group.kind)
    copies = count_copies(shape, gpus)
    if ways == 1 or copies % ways:
        raise InputError(
            "{gpus} GPUs hold {copies}× the KV heads: {ways} cannot share their tokens",
            gpus=gpus,
            copies=copies,
            ways=ways,
        )


def count_copies(shape: ModelShape, gpus: int) -> int:
    """How many GPUs hold the same KV head, or the same latent, where so many divide heads."""
    groups = shape.require_groups()
    return math.gcd(*(max(1, gpus // g.num_kv_heads) if g.num_kv_heads else gpus for g in groups))


def count_layers(shape: ModelShape) -> int:
    """Layers of the decoder; a key of an index or of another text is kept beside them."""
    return sum(g.count for g in shape.require_groups() if g.kind not in ("index", "cross"))


def place_shape(shape: ModelShape, gpus: int, split: str, ways: int) -> ModelShape:
    """The part of a model that a GPU holds: of several stages, the largest.

    Layers of each kind are taken to be spread evenly over the stages.
    """
    part = split_shape(shape, gpus // ways if split in (LAYERS, TEXTS) else gpus)
    if split != LAYERS:
        return part
    groups = (replace(g, count=-(-g.count // ways)) for g in part.require_groups())
    return replace(part, groups=tuple(groups))


def count_attention_parameters(shape: ModelShape) -> int:
    """Weights of the four matrices of attention in all layers, and of what an MLA latent needs."""
    total, width, heads = 0, shape.d_model, shape.num_heads
    for group in shape.require_groups():
        if group.kind in KINDS_WITH_HEADS:
            total += group.count * 2 * width * group.head_dim * (heads + group.num_kv_heads)
        elif group.kind == "latent":
            query = heads * (shape.nope_dim + group.rope_dim)
            rank = shape.query_latent_dim
            total += group.count * (
                ((width + query) * rank if rank else width * query)
                + width * (group.latent_dim + group.rope_dim)
                + group.latent_dim * heads * (shape.nope_dim + shape.value_dim)
                + heads * shape.value_dim * width
            )
    return total


def share_weights(shape: ModelShape, size: int, gpus: int, split: str, ways: int) -> int:
    """Bytes of the weights on one GPU, of `size` bytes in all.

    A stage of layers has the table of words, or as large a one for the output, besides its layers;
    GPUs that have texts of their own each have all attention.
    """
    if split == LAYERS and ways > 1:
        table = min(2 * (shape.vocabulary or 0) * shape.d_model, size // 2)
        layers = size - (1 if shape.has_tied_embeddings else 2) * table
        most = Fraction(-(-count_layers(shape) // ways), count_layers(shape))
        size, gpus = int(layers * most) + table, gpus // ways
    if split == TEXTS and ways > 1 and shape.parameters:
        repeated = size * count_attention_parameters(shape) // shape.parameters
        size += (ways - 1) * min(repeated, size)
    return -(-size // gpus)


# What vLLM keeps besides weights and caches. `python -m workshop.server_logs` compares it with what
# servers printed when they started. Models with experts need more while they read.
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
