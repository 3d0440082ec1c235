"""To take away: the row of weights from its scores, and the weight without one source."""

from typing import Any

import torch
from torch import Tensor

from explainers.chapters.why_it_looked.explained_cell import Explained
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.controls import why_controls as chosen
from explainers.ui.takeaway_files import take


def remove_key_source(scores: Tensor, key: int, parts: Tensor, source: int) -> dict[str, Tensor]:
    """The parts (sources,) sum to the key's score; without one of them the key scores less."""
    without = scores.clone()
    without[key] = without[key] - parts[source]
    return {
        "sum of the parts": parts.sum(),
        "weights": scores.softmax(-1),
        "weights without the source": without.softmax(-1),
    }


def take_weight(one: Explained) -> None:
    """The weight that the picture shows, without the key's first source."""
    parts = torch.tensor(one.parts[chosen.RAW][1], dtype=torch.double)
    scores = torch.tensor(one.scores, dtype=torch.double)
    inputs: dict[str, Any] = {"scores": scores, "key": one.key, "parts": parts}
    inputs |= {"source": one.rank(chosen.RAW, 1)[0]}
    title = _("Head {which}: a weight without one source", which=f"L{one.layer}.H{one.head}")
    take("weight", Recipe(title, remove_key_source, inputs, remove_key_source(**inputs)))
