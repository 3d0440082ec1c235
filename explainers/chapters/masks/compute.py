"""What the page on masks computes, which its files run again: tensors by what they are called."""

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.receptive_field import reach
from explainers.attention.rules import Rule
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
WAYS = {"0 after": masked_after, "−∞ before": masked_before}
BOTH = {"full": masks.full, "causal": masks.causal}
ADDED = "evening"
D_MODEL, HEAD_DIM = 8, 4
ANOTHER = 100
"""Added to the seed for the second layer's weights."""


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


def measure_largest_change(weights: Tensor, alone: list[Tensor]) -> float:
    """The largest difference that the batch makes to a sentence's own weights."""
    own = zip(weights, alone, strict=True)
    return max((w[: len(a), : len(a)] - a).abs().max().item() for w, a in own)


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


def run_second_layer(tokens: Tokens, rule: Rule, seed: int) -> Projections:
    """Q, K and V of a second layer, which reads what the first one gave each word."""
    x = examples.place_words(tokens, D_MODEL, seed)
    mask = masks.build(rule, len(tokens), len(tokens)).to(x.device)
    head = examples.random_head(D_MODEL, HEAD_DIM, D_MODEL, seed)
    first = single_head(x, head, mask).output
    return project(first, examples.random_head(D_MODEL, HEAD_DIM, HEAD_DIM, seed + ANOTHER))


def compute_added_word(tokens: Tokens, seed: int) -> Computed:
    """What one more word changes in the second layer's K and V, under full and causal masks."""
    texts = tokens, (*tokens, ADDED)
    both = {n: [run_second_layer(one, rule, seed) for one in texts] for n, rule in BOTH.items()}
    return {
        f"{letter}, {name}": getattr(after, role)[:-1] - getattr(before, role)
        for letter, role in (("K", "key"), ("V", "value"))
        for name, (before, after) in both.items()
    }
