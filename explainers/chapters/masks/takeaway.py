"""To take away from page 05: one matrix of scores under masks, and what masks let through."""

from typing import Any

from explainers.attention.single_head import Projections
from explainers.chapters.common.score_matrix import Lab
from explainers.chapters.masks.changed_text import Leak
from explainers.chapters.masks.drawn_mask import Drawing
from explainers.chapters.masks.masked_weights import (
    Computed,
    both_ways,
    by_role,
    count_cells,
    in_a_batch,
    one_more_word,
    through_layers,
    under_drawn,
    under_masks,
)
from explainers.chapters.masks.padded_batch import Batch
from explainers.chapters.masks.window_reach import LayerReach
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.takeaway_files import take


def side_by_side(lab: Lab, numbers: dict[str, int], shown: Computed) -> None:
    """One matrix under every mask, and how many cells each leaves."""
    inputs: dict[str, Any] = {"layer": lab.layer, "numbers": numbers}
    of_words: dict[str, Any] = {"numbers": numbers, "length": len(lab.tokens)}
    take(
        "side by side",
        Recipe(_("One matrix, many masks"), under_masks, inputs, shown),
        Recipe(_("Cells that are left"), count_cells, of_words, count_cells(**of_words)),
    )


def by_hand(lab: Lab, drawing: Drawing) -> None:
    """The reader's own mask, or nothing if it is refused."""
    inputs = {"layer": lab.layer, "cells": drawing.cells.tolist()}
    recipe = Recipe(_("Your mask"), under_drawn, inputs, drawing.shown)
    take("by hand", *[recipe] * (drawing.empty_row is None))


def leak(lab: Lab, found: Leak) -> None:
    """Two orders of the same two steps."""
    inputs = {"layer": lab.layer, "other": found.other}
    take("leak", Recipe(_("−∞ before the softmax, or 0 after it"), both_ways, inputs, found.shown))


def batch(found: Batch) -> None:
    """Two sentences, filled up to one length."""
    first, second = found.layers
    inputs = {"layer": first, "other": second, "lengths": found.lengths}
    take("batch", Recipe(_("Two sentences in one batch"), in_a_batch, inputs, found.shown))


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
