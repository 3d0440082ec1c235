"""To take away: all heads, what they hand on side by side, and the output of the layer."""

from torch import Tensor

from explainers.attention.multi_head import merge_heads
from explainers.chapters.many_heads.selection import Selection
from explainers.takeaway.recipe import Recipe
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.takeaway_files import take


def compute_heads(layer: Layer, word: int, off: list[int]) -> dict[str, Tensor]:
    """Every head's weights, the heads' outputs side by side, and what W_O makes of them."""
    return list_numbers(Selection.of(layer, word, off))


def list_numbers(looked: Selection) -> dict[str, Tensor]:
    """What the picture shows, under the names that it has there."""
    each = {f"head {n}": weights for n, weights in enumerate(looked.run.weights)}
    return {**each, "heads": merge_heads(looked.per_head), "layer": looked.output}


def take_heads(looked: Selection) -> None:
    """The picture of a layer."""
    inputs = {"layer": looked.layer, "word": looked.word, "off": sorted(looked.off)}
    take("heads", Recipe(_("All heads of a layer"), compute_heads, inputs, list_numbers(looked)))
