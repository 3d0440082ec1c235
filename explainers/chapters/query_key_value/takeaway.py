"""To take away: X times a matrix, and how many numbers are learned."""

from collections.abc import Sequence

from explainers.attention.single_head import projection_parameters
from explainers.chapters.common.one_head import OneHead, compute_matrices
from explainers.takeaway.recipe import Recipe
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.takeaway_files import take

LEARNED = "W_Q", "W_K", "W_V"
PROJECTED = ("X", *LEARNED, "Q", "K", "V")


def count_parameters(d_model: int, head_dim: int, value_dim: int) -> dict[str, int]:
    """What W_Q, W_K and W_V hold together."""
    return {"parameters": projection_parameters(d_model, head_dim, value_dim)}


def take_projections(
    part: str, layer: Layer, one_head: OneHead, names: Sequence[str] = PROJECTED
) -> None:
    """The matrices as far as Q, K and V, or those of them that are drawn."""
    numbers = {name: one_head.numbers[name] for name in names}
    take(part, Recipe(_("X times a matrix"), compute_matrices, {"layer": layer}, numbers))


def take_parameters(d_model: int, head_dim: int, value_dim: int) -> None:
    """How many numbers are learned."""
    sizes = {"d_model": d_model, "head_dim": head_dim, "value_dim": value_dim}
    title = _("How many numbers are learned")
    take("parameters", Recipe(title, count_parameters, sizes, count_parameters(**sizes)))
