"""Every matrix of one head by its name, from the words' vectors to the output."""

from typing import Any

from torch import Tensor

from explainers.attention.single_head import project
from explainers.attention.steps import attention_steps
from explainers.takeaway.recipe import Recipe
from explainers.toys.layers import Layer
from explainers.ui.takeaway_files import take

STEPS = ("products", "scores", "masked", "weights", "output")


def compute_matrices(layer: Layer) -> dict[str, Tensor]:
    """All that the first head of a layer computes."""
    head = layer.head()
    views = project(layer.x, head)
    learned = {"X": layer.x, "W_Q": head.w_query, "W_K": head.w_key, "W_V": head.w_value}
    steps = zip(STEPS, attention_steps(*views, layer.mask), strict=True)
    return learned | dict(zip("QKV", views, strict=True)) | dict(steps)


def take_head(title: str, layer: Layer, numbers: dict[str, Any], *more: Recipe) -> None:
    """Every matrix of the picture, and what else belongs to it."""
    take("head", Recipe(title, compute_matrices, {"layer": layer}, numbers), *more)
