"""To take away: heads that share, what is stored, the mistake, MLA; and the layer of this page."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.grouped_query import (
    average_kv_heads,
    cache_elements,
    grouped_query,
    share_wrongly,
)
from explainers.attention.latent import LatentHeads, absorbed, latent_attention
from explainers.attention.latent_layer import Latent
from explainers.attention.merged_rows import merge_rows
from explainers.attention.multi_head import ManyHeads, multi_head
from explainers.attention.rotary import angles
from explainers.attention.scaled_dot_product import Attention, attention
from explainers.chapters.common.score_matrix import name_by_head
from explainers.takeaway.recipe import Recipe
from explainers.toys import examples
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.takeaway_files import take

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


def share_heads(layer: Layer, num_kv_heads: int) -> Computed:
    """The weights with keys and values averaged in groups, and how much that changed."""
    run = grouped_query(layer.x, average_kv_heads(layer.heads, num_kv_heads), layer.mask)
    return list_shared_numbers(layer, run)


def read_learned_heads(layer: Layer) -> Computed:
    """The weights of heads that learned with fewer keys and values."""
    return list_learned_numbers(grouped_query(layer.x, layer.heads, layer.mask))


def list_learned_numbers(run: ManyHeads) -> Computed:
    """The weights of a run under the names of its heads."""
    return name_by_head("learned head", run.weights)


def list_shared_numbers(layer: Layer, run: ManyHeads) -> Computed:
    """The weights of a run with shared keys and values, and how they differ from the layer's."""
    changed = measure_change(layer, run)
    return {**name_by_head("head", run.weights), **name_by_head("change of head", changed)}


def measure_change(layer: Layer, run: ManyHeads) -> Tensor:
    """Weights of heads that share − weights of the layer (heads, q_len, kv_len)."""
    return run.weights - multi_head(layer.x, layer.heads, layer.mask).weights


def count_cached_numbers(words: int, head_dim: int, kv_heads: list[int]) -> dict[str, int]:
    """How many numbers of a text are cached, for each number of KV heads."""
    return {f"{n} KV heads": cache_elements(words, n, head_dim) for n in kv_heads}


def compute_wrong_repeat(layer: Layer, num_kv_heads: int) -> Computed:
    """How much every weight changes if KV heads are dealt out with `repeat`."""
    sizes = layer.x.shape[-1], layer.heads.num_heads, num_kv_heads, layer.heads.head_dim
    run = grouped_query(layer.x, examples.random_heads(*sizes, layer.seed), layer.mask)
    return name_by_head("with repeat, head", repeat_wrongly(run, layer.mask).weights - run.weights)


def repeat_wrongly(run: ManyHeads, mask: Tensor) -> Attention:
    """The same heads if the KV heads are dealt out with `repeat`."""
    group_size = len(run.query) // len(run.key)
    key, value = share_wrongly(run.key, group_size), share_wrongly(run.value, group_size)
    return attention(run.query, key, value, mask)


def compute_latent_heads(tokens: tuple[str, ...], latent_dim: int, seed: int) -> Computed:
    """What MLA caches and computes, written out and absorbed."""
    given = make_latent_inputs(tokens, latent_dim, seed)
    return list_latent_numbers(latent_attention(*given), absorbed(*given))


def list_latent_numbers(run: LatentHeads, short: LatentHeads) -> Computed:
    """What is cached, every head's weights, and the output of both ways."""
    rows = {"latent": run.cached.latent, "rotary key": run.cached.rotary_key}
    outputs = {"output": run.output, "output, absorbed": short.output}
    return {**rows, **name_by_head("MLA head", run.weights), **outputs}


def take_learned(layer: Layer, run: ManyHeads) -> None:
    """Heads that learned to share."""
    title = _("Heads that learned to share keys and values")
    shown = list_learned_numbers(run)
    take("learned", Recipe(title, read_learned_heads, {"layer": layer}, shown))


def take_sharing(layer: Layer, num_kv_heads: int, run: ManyHeads) -> None:
    """Heads that share keys and values."""
    inputs, shown = {"layer": layer, "num_kv_heads": num_kv_heads}, list_shared_numbers(layer, run)
    take("sharing", Recipe(_("Heads that share keys and values"), share_heads, inputs, shown))


def take_cached_numbers(words: int, head_dim: int, kv_heads: list[int]) -> None:
    """What is kept of the text."""
    shown = count_cached_numbers(words, head_dim, kv_heads)
    inputs = {"words": words, "head_dim": head_dim, "kv_heads": kv_heads}
    take("cached", Recipe(_("Numbers kept of the text"), count_cached_numbers, inputs, shown))


def compute_merged_rows(tokens: tuple[str, ...], width: int, seed: int) -> Computed:
    """Words that share a row, and the weights with which they do."""
    return list_merged_numbers(merge_words(tokens, width, seed))


def list_merged_numbers(found: MergedWords) -> Computed:
    """What is drawn of it."""
    return {"rows": found.rows, "weights": found.weights.flatten(0, 1), "merged": found.merged}


def take_rows(found: MergedWords) -> None:
    """Words that share a row."""
    inputs = {"tokens": found.tokens, "width": found.width, "seed": found.seed}
    shown = list_merged_numbers(found)
    take("rows", Recipe(_("Words that share a row"), compute_merged_rows, inputs, shown))


def take_mistake(layer: Layer, num_kv_heads: int, changed: Tensor) -> None:
    """The classic mistake."""
    inputs = {"layer": layer, "num_kv_heads": num_kv_heads}
    shown, title = name_by_head("with repeat, head", changed), _("`repeat` for `repeat_interleave`")
    take("mistake", Recipe(title, compute_wrong_repeat, inputs, shown))


def take_latent(
    tokens: tuple[str, ...], latent_dim: int, seed: int, run: LatentHeads, short: LatentHeads
) -> None:
    """Multi-head latent attention."""
    shown = list_latent_numbers(run, short)
    inputs = {"tokens": tokens, "latent_dim": latent_dim, "seed": seed}
    title = _("Multi-head latent attention")
    take("latent", Recipe(title, compute_latent_heads, inputs, shown))
