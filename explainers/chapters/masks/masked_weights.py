"""The numbers of the page on masks: weights, batches, and a change of the text."""

import functools
from collections.abc import Mapping

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.receptive_field import cells, reach
from explainers.attention.rules import Mask, Rule
from explainers.attention.single_head import Projections, project, single_head
from explainers.attention.steps import (
    dot_products,
    hide,
    masked_after,
    masked_before,
    scale,
    softmax,
)
from explainers.chapters.common.score_matrix import make_rules
from explainers.toys import examples
from explainers.toys.layers import Layer, Tokens

Computed = dict[str, Tensor]
ADDED = "evening"
D_MODEL, HEAD_DIM = 8, 4
ANOTHER = 100
"""Added to the seed for the second layer's weights."""
BOTH = {"full": masks.full, "causal": masks.causal}
WAYS = {"0 after": masked_after, "−∞ before": masked_before}


def compute_scores(layer: Layer) -> Tensor:
    """The scores that all masks begin with."""
    query, key, _unused = project(layer.x, layer.head())
    return scale(dot_products(query, key), head_dim=query.shape[-1])


def mask_weights(layer: Layer, numbers: dict[str, int]) -> Computed:
    """The scores, the weights under each mask, and what each row wins and loses by it."""
    scores, length = compute_scores(layer), len(layer.x)
    built = {name: masks.build(r, length, length) for name, r in make_rules(numbers).items()}
    weights = {name: softmax(hide(scores, mask.to(scores.device))) for name, mask in built.items()}
    moved = {f"{name} − full": each - weights["full"] for name, each in weights.items()}
    del moved["full − full"]
    return {"scores": scores, **weights, **moved}


def compute_drawn_weights(layer: Layer, cells: list[list[bool]]) -> Computed:
    """The weights under a mask by hand, and what they are more than without a mask."""
    scores, allowed = compute_scores(layer), masks.drawn(torch.tensor(cells))
    mask = masks.build(allowed, *scores.shape).to(scores.device)
    weights = softmax(hide(scores, mask))
    return {"weights": weights, "yours − full": weights - softmax(scores)}


def compute_leak(layer: Layer, other: Layer) -> Computed:
    """Causal weights made in the right and in the wrong order, and how a new last word moves them.

    The change is in percent.
    """
    causal = masks.build(masks.causal, *layer.mask.shape).to(layer.x.device)
    before, after = compute_scores(layer), compute_scores(other)
    weights = {name: way(before, causal) for name, way in WAYS.items()}
    moved = {name: way(after, causal) - weights[name] for name, way in WAYS.items()}
    return weights | {f"{name}: new − old": 100 * m[:-1, :-1] for name, m in moved.items()}


def compute_batch_weights(layer: Layer, other: Layer, lengths: list[int]) -> Computed:
    """Two sentences in one call, the filling of the shorter one hidden."""
    x = torch.stack([layer.x, other.x])[:, None]
    mask = masks.build(masks.padding(torch.tensor(lengths)), *layer.mask.shape).to(x.device)
    weights = single_head(x, layer.head(), mask).weights[:, 0]
    return {"sentence 1": weights[0], "sentence 2": weights[1]}


def compute_reach_by_layer(width: int, words: int, layers: int) -> Tensor:
    """Which words know of which after one layer of a window, two, … (layers, words, words)."""
    return reach(masks.build(masks.sliding_window(width), words, words), layers)


def compute_reach(width: int, words: int, layers: int, most: int) -> Computed:
    """Which words know of which after some layers, and the way to what the last one knows of."""
    by_layer = compute_reach_by_layer(width, words, most)
    return {"pairs": by_layer[layers - 1].int(), "cone": trace_cone(by_layer, layers).int()}


def trace_cone(by_layer: Tensor, layers: int) -> Tensor:
    """Where what the last word knows of after `layers` has come from, the words in the last row.

    Each row is a layer, the highest first (most + 1, words): below the word itself stands what it
    reaches in one layer, in two, … Layers above hold nothing.
    """
    most, words, _keys = by_layer.shape
    cone = by_layer.new_zeros(most + 1, words)
    cone[most - layers, -1] = True
    cone[most - layers + 1 :] = by_layer[:layers, -1]
    return cone


def name_changes(found: dict[str, Projections]) -> Computed:
    """What changed in K and in V, under each mask."""
    keys = {f"K, {name}": each.key for name, each in found.items()}
    return keys | {f"V, {name}": each.value for name, each in found.items()}


def run_second_layer(tokens: Tokens, rule: Rule, seed: int) -> Projections:
    """Q, K and V of a second layer, which reads what the first one gave each word."""
    x = examples.place_words(tokens, D_MODEL, seed)
    mask = masks.build(rule, len(tokens), len(tokens)).to(x.device)
    head = examples.random_head(D_MODEL, HEAD_DIM, D_MODEL, seed)
    first = single_head(x, head, mask).output
    return project(first, examples.random_head(D_MODEL, HEAD_DIM, HEAD_DIM, seed + ANOTHER))


def measure_changes(tokens: Tokens, rule: Rule, seed: int) -> Projections:
    """What one more word changes in the second layer's Q, K and V of the words before it."""
    before, after = (
        run_second_layer(tokens, rule, seed),
        run_second_layer((*tokens, ADDED), rule, seed),
    )
    return Projections(*(new[:-1] - old for old, new in zip(before, after, strict=True)))


def measure_new_word(tokens: Tokens, seed: int) -> dict[str, Projections]:
    """The same under full and under causal attention."""
    return {name: measure_changes(tokens, rule, seed) for name, rule in BOTH.items()}


def compute_added_word(tokens: Tokens, seed: int) -> Computed:
    """What one more word changes in the second layer's K and V, under full and causal masks."""
    return name_changes(measure_new_word(tokens, seed))


def count_cells(numbers: Mapping[str, int], length: int) -> dict[str, int]:
    """How many cells each mask leaves of a text of `length` words."""
    return {
        mask.name: _count_mask_cells(mask, numbers.get(mask.name, mask.usual), length)
        for mask in masks.MASKS
    }


@functools.lru_cache(maxsize=256)
def _count_mask_cells(mask: Mask, number: int, length: int) -> int:
    """One mask at a time, so that a new width costs a single count."""
    return cells(masks.build(mask.of(number), length, length))
