"""To take away: one matrix of scores under masks, and what masks let through."""

from typing import Any

from explainers.attention.single_head import Projections
from explainers.chapters.common.score_matrix import Lab
from explainers.chapters.masks.changed_text import (
    Leak,
    compute_added_word,
    compute_leak,
    name_changes,
)
from explainers.chapters.masks.padded_batch import SentenceBatch, compute_batch_weights
from explainers.chapters.masks.side_by_side import (
    Computed,
    Drawing,
    compute_drawn_weights,
    mask_weights,
)
from explainers.chapters.masks.window_reach import LayerReach, compute_reach, trace_cone
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.takeaway_files import take


def take_masks(
    lab: Lab, numbers: dict[str, int], shown: Computed, name: str = "side by side"
) -> None:
    """One matrix under every mask."""
    inputs: dict[str, Any] = {"layer": lab.layer, "numbers": numbers}
    take(name, Recipe(_("One matrix, many masks"), mask_weights, inputs, shown))


def take_first(lab: Lab, numbers: dict[str, int], drawing: Drawing | None) -> None:
    """What the page opens with: a mask of the table, or one that is drawn."""
    if drawing:
        take_drawing(lab, drawing)
    else:
        take_masks(lab, numbers, mask_weights(lab.layer, numbers))


def take_drawing(lab: Lab, drawing: Drawing) -> None:
    """The reader's own mask, or nothing if it is refused."""
    inputs = {"layer": lab.layer, "cells": drawing.cells.tolist()}
    recipe = Recipe(_("Your mask"), compute_drawn_weights, inputs, drawing.shown)
    take("by hand", *[recipe] * (drawing.empty_row is None))


def take_leak(lab: Lab, found: Leak) -> None:
    """Two orders of the same two steps."""
    inputs = {"layer": lab.layer, "other": found.other}
    take(
        "leak", Recipe(_("−∞ before the softmax, or 0 after it"), compute_leak, inputs, found.shown)
    )


def take_batch(found: SentenceBatch) -> None:
    """Two sentences, filled up to one length."""
    first, second = found.layers
    inputs = {"layer": first, "other": second, "lengths": found.lengths}
    take(
        "batch", Recipe(_("Two sentences in one batch"), compute_batch_weights, inputs, found.shown)
    )


def take_reach(found: LayerReach) -> None:
    """How far windows reach."""
    width, steps, place, by_layer = found
    shown = {"pairs": by_layer[place].int(), "cone": trace_cone(by_layer, steps[place]).int()}
    sizes = {"width": width, "words": by_layer.shape[-1], "layers": steps[place]}
    sizes["most"] = len(by_layer)
    take("reach", Recipe(_("Windows stacked in layers"), compute_reach, sizes, shown))


def take_added_word(tokens: tuple[str, ...], seed: int, found: dict[str, Projections]) -> None:
    """What a word that is added changes."""
    inputs: dict[str, Any] = {"tokens": tokens, "seed": seed}
    take("growing", Recipe(_("One more word"), compute_added_word, inputs, name_changes(found)))
