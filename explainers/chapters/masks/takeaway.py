"""To take away from page 05: one matrix of scores under masks, and what masks let through."""

from typing import Any

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.leak import masked_after, masked_before
from explainers.attention.reach import reach
from explainers.attention.single_head import Projections, project, single_head
from explainers.attention.steps import dot_products, hide, scale, softmax
from explainers.chapters.common.score_matrix import Lab, rules_of
from explainers.chapters.masks.drawn_mask import Drawing
from explainers.chapters.masks.leaking_mask import Leak
from explainers.chapters.masks.masks_compared import left
from explainers.chapters.masks.one_more_word import changes_under_both
from explainers.chapters.masks.padded_batch import Batch
from explainers.chapters.masks.window_reach import LayerReach
from explainers.takeaway.recipe import Recipe
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.takeaway_files import take

Computed = dict[str, Tensor]


def scores_of(layer: Layer) -> Tensor:
    """The scores that all masks begin with."""
    query, key, _unused = project(layer.x, layer.head())
    return scale(dot_products(query, key), head_dim=query.shape[-1])


def under_masks(layer: Layer, numbers: dict[str, int]) -> Computed:
    """The scores, the weights under each mask, and what each row wins and loses by it."""
    scores, length = scores_of(layer), len(layer.x)
    built = {name: masks.build(r, length, length) for name, r in rules_of(numbers).items()}
    weights = {name: softmax(hide(scores, mask.to(scores.device))) for name, mask in built.items()}
    moved = {f"{name} − full": each - weights["full"] for name, each in weights.items()}
    del moved["full − full"]
    return {"scores": scores, **weights, **moved}


def under_drawn(layer: Layer, cells: list[list[bool]]) -> Computed:
    """The weights under a mask by hand, and what they are more than without a mask."""
    scores, allowed = scores_of(layer), masks.drawn(torch.tensor(cells))
    mask = masks.build(allowed, *scores.shape).to(scores.device)
    weights = softmax(hide(scores, mask))
    return {"weights": weights, "yours − full": weights - softmax(scores)}


def both_ways(layer: Layer, other: Layer) -> Computed:
    """Causal weights made in the right and in the wrong order, and how a new last word moves them.

    The change is in percent.
    """
    causal = masks.build(masks.causal, *layer.mask.shape).to(layer.x.device)
    before, after = scores_of(layer), scores_of(other)
    ways = {"0 after": masked_after, "−∞ before": masked_before}
    weights = {name: way(before, causal) for name, way in ways.items()}
    moved = {name: way(after, causal) - weights[name] for name, way in ways.items()}
    return weights | {f"{name}: new − old": 100 * m[:-1, :-1] for name, m in moved.items()}


def in_a_batch(layer: Layer, other: Layer, lengths: list[int]) -> Computed:
    """Two sentences in one call, the filling of the shorter one hidden."""
    x = torch.stack([layer.x, other.x])[:, None]
    mask = masks.build(masks.padding(torch.tensor(lengths)), *layer.mask.shape).to(x.device)
    weights = single_head(x, layer.head(), mask).weights[:, 0]
    return {"sentence 1": weights[0], "sentence 2": weights[1]}


def through_layers(width: int, words: int, layers: int, most: int) -> Computed:
    """Which words know of which after some layers, and of what the last one knows after each."""
    mask = masks.build(masks.sliding_window(width), words, words)
    by_layer = reach(mask, most).int()
    return {"pairs": by_layer[layers - 1], "cone": by_layer[:, -1]}


def one_more_word(tokens: tuple[str, ...], seed: int) -> Computed:
    """What one more word changes in the second layer's K and V, under full and causal masks."""
    return by_role(changes_under_both(tokens, seed))


def by_role(found: dict[str, Projections]) -> Computed:
    """What changed in K and in V, under each mask."""
    keys = {f"K, {name}": each.key for name, each in found.items()}
    return keys | {f"V, {name}": each.value for name, each in found.items()}


def side_by_side(lab: Lab, numbers: dict[str, int]) -> None:
    """One matrix under every mask, and how many cells each leaves."""
    inputs: dict[str, Any] = {"layer": lab.layer, "numbers": numbers}
    shown = under_masks(**inputs)
    of_words: dict[str, Any] = {"numbers": numbers, "length": len(lab.tokens)}
    take(
        "side by side",
        Recipe(_("One matrix, many masks"), under_masks, inputs, shown),
        Recipe(_("Cells that are left"), left, of_words, left(**of_words)),
    )


def by_hand(lab: Lab, drawing: Drawing) -> None:
    """The reader's own mask, or nothing if it is refused."""
    if drawing.empty_row is not None:
        take("by hand")
        return
    weights, cells = drawing.weights, drawing.cells.tolist()
    shown = {"weights": weights, "yours − full": weights - lab.weights(masks.full)}
    inputs = {"layer": lab.layer, "cells": cells}
    take("by hand", Recipe(_("Your mask"), under_drawn, inputs, shown))


def leak(lab: Lab, found: Leak) -> None:
    """Two orders of the same two steps."""
    title, other = _("−∞ before the softmax, or 0 after it"), (*lab.tokens[:-1], found.new)
    inputs = {"layer": lab.layer, "other": lab.layer.reading(other)}
    take("leak", Recipe(title, both_ways, inputs, found.pictured()))


def batch(found: Batch) -> None:
    """Two sentences, filled up to one length."""
    first, second = found.labs
    shown = {f"sentence {n + 1}": each for n, each in enumerate(found.weights)}
    inputs = {"layer": first.layer, "other": second.layer, "lengths": found.lengths}
    take("batch", Recipe(_("Two sentences in one batch"), in_a_batch, inputs, shown))


def layers(found: LayerReach) -> None:
    """How far windows reach."""
    width, steps, place, by_layer = found
    shown = {"pairs": by_layer[place].int(), "cone": by_layer[:, -1].int()}
    sizes = {"width": width, "words": by_layer.shape[-1], "layers": steps[place]}
    sizes["most"] = len(by_layer)
    take("reach", Recipe(_("Windows stacked in layers"), through_layers, sizes, shown))


def growing(tokens: tuple[str, ...], seed: int, found: dict[str, Projections]) -> None:
    """What a word that is added changes."""
    inputs: dict[str, Any] = {"tokens": tokens, "seed": seed}
    take("growing", Recipe(_("One more word"), one_more_word, inputs, by_role(found)))
