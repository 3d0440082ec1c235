"""Heads that share, MLA, and words that share a row: what the page and its files compute."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.cache.compression import merge_rows
from explainers.attention.grouped_query import grouped_query
from explainers.attention.latent import LatentHeads, absorbed, latent_attention
from explainers.attention.latent_layer import Latent
from explainers.attention.rotary import angles
from explainers.chapters.common.score_matrix import name_by_head
from explainers.toys import examples
from explainers.toys.layers import Layer

NUM_HEADS, HEAD_DIM, D_MODEL = 4, 16, 64
"""The layer of this page, where the reader does not choose another."""
ROPE_DIM = 8
"""How many numbers of a query and of the shared key say where a token stands."""


class LatentInputs(NamedTuple):
    """All that MLA needs to run."""

    x: Tensor
    layer: Latent
    mask: Tensor
    angle: Tensor


def make_latent_inputs(tokens: Sequence[str], latent_dim: int, seed: int) -> LatentInputs:
    """Untrained weights, the causal mask, and no position in x: RoPE brings it in."""
    x = examples.draw_embeddings(tuple(tokens), D_MODEL, seed)
    layer = examples.random_latent(D_MODEL, NUM_HEADS, HEAD_DIM, latent_dim, ROPE_DIM, seed)
    mask = masks.build(masks.causal, len(tokens), len(tokens)).to(x.device)
    angle = angles(torch.arange(len(tokens), device=x.device), ROPE_DIM, examples.LONGEST)
    return LatentInputs(x, layer, mask, angle)


MERGE_DIM = 6
"""How many numbers a row of the text has that is merged: few, so that all can be read."""


class MergedWords(NamedTuple):
    """The rows of a text, and what became of them."""

    tokens: tuple[str, ...]
    width: int
    seed: int
    rows: Tensor
    weights: Tensor
    merged: Tensor


def merge_words(tokens: tuple[str, ...], width: int, seed: int) -> MergedWords:
    """Untrained rows and gates of a text, merged."""
    x = examples.draw_embeddings(tokens, D_MODEL, seed)
    rows, gate = (
        x @ torch.randn(D_MODEL, MERGE_DIM, generator=examples.make_generator(name, seed)).to(x) / 8
        for name in ("rows", "gate")
    )
    bias = torch.randn(width, MERGE_DIM, generator=examples.make_generator("bias", seed)).to(x)
    return MergedWords(tokens, width, seed, rows, *merge_rows(rows, gate, bias))


Computed = dict[str, Tensor]


def read_learned_heads(layer: Layer) -> Computed:
    """The weights of heads that learned with fewer keys and values."""
    return name_by_head("learned head", grouped_query(layer.x, layer.heads, layer.mask).weights)


def compute_latent_heads(tokens: tuple[str, ...], latent_dim: int, seed: int) -> Computed:
    """What MLA caches and computes, written out and absorbed."""
    given = make_latent_inputs(tokens, latent_dim, seed)
    return list_latent_numbers(latent_attention(*given), absorbed(*given))


def list_latent_numbers(run: LatentHeads, short: LatentHeads) -> Computed:
    """What is stored, the weights of every head, and the outputs of both ways."""
    rows = {"latent": run.cached.latent, "rotary key": run.cached.rotary_key}
    outputs = {"output": run.output, "output, absorbed": short.output}
    return {**rows, **name_by_head("MLA head", run.weights), **outputs}


def compute_merged_rows(tokens: tuple[str, ...], width: int, seed: int) -> Computed:
    """Words that share a row, and the weights with which they do."""
    return list_merged_numbers(merge_words(tokens, width, seed))


def list_merged_numbers(found: MergedWords) -> Computed:
    """The rows of the words, how they are weighed, and what became of them."""
    return {"rows": found.rows, "weights": found.weights.flatten(0, 1), "merged": found.merged}
