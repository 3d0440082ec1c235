"""To take away: the head that a reader chose, and the experiment on √d_k."""

from typing import Any

from explainers.chapters.common.one_head import OneHead, compute_matrices
from explainers.chapters.scores.root_experiment import RootMeasurement, run_experiment
from explainers.takeaway.recipe import Recipe
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.takeaway_files import take


def measure_root(head_dims: list[int]) -> dict[str, Any]:
    """Random queries and keys at each d_k: without √d_k first, then with it."""
    names = "variance", "gradient", "average", "shares", "rows"
    measurements = run_experiment(head_dims)
    return {name: [getattr(one, name) for one in measurements] for name in names}


def take_chosen_head(layer: Layer, one_head: OneHead) -> None:
    """Every matrix of the head that a reader chose."""
    recipe = Recipe(
        _("The head that you chose"), compute_matrices, {"layer": layer}, one_head.numbers
    )
    take("chosen head", recipe)


def take_root(measurements: list[RootMeasurement]) -> None:
    """All that the curves, the histogram and the rows show."""
    names = "variance", "gradient", "average", "shares", "rows"
    shown = {name: [getattr(one, name) for one in measurements] for name in names}
    inputs = {"head_dims": [one.head_dim for one in measurements]}
    take("root", Recipe(_("Why to divide by √d_k"), measure_root, inputs, shown))
