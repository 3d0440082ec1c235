"""What heads are called: their roles, each with its threshold, and the best score by chance."""

from typing import TYPE_CHECKING, Any

from explainers.messages import N_, get_message
from explainers.models.head_scores import ROLES, HeadScores, find_roles, measure_heads
from explainers.models.registry import ModelError

if TYPE_CHECKING:
    from explainers.models.load import RealModel

MEANINGS = {
    "previous token": N_("looks at the token before"),
    "next token": N_("looks at the token behind"),
    "current token": N_("looks at the token itself"),
    "duplicate token": N_("looks at earlier copies of the token"),
    "induction": N_("looks at what followed an earlier copy of the token"),
    "sink": N_("gives the first token a mean weight above 0.3, in this share of texts"),
    "punctuation": N_("looks at punctuation and special tokens"),
    "positional": N_("looks at one distance in so many rows"),
}
"""What each role's score measures."""


def name_heads(scores: HeadScores) -> list[dict[str, Any]]:
    """The roles that some head has, each with its heads as [layer, head, score], best first.

    A head has a role if its score is above the threshold and above every head's score once its
    weights are shuffled (`chance`). Layers count from 0 in the order in which they ran.
    """
    layers, heads = scores.shape
    places = [(layer, head) for layer in range(layers) for head in range(heads)]
    found: dict[str, list[tuple[int, int, float]]] = {}
    for layer, head in places:
        for role in find_roles(scores, layer, head):
            found.setdefault(role.role, []).append((layer, head, round(role.score, 4)))
    return [
        {
            "name": role.name,
            "meaning": MEANINGS[role.name],
            "threshold": role.threshold,
            "chance": round(scores.find_chance_score(role.probe, role.score_name), 4),
            "heads": [list(one) for one in sorted(found[role.name], key=lambda one: -one[2])],
        }
        for role in ROLES
        if role.name in found
    ]


def find_scores(borrowed: "RealModel", names: "bool | HeadScores") -> tuple[HeadScores | None, str]:
    """The scores that name the heads, or why there are none: given, measured, or not wanted."""
    if names is False:
        return None, N_("Heads were not measured.")
    if isinstance(names, HeadScores):
        return names, ""
    try:
        return measure_heads(borrowed), ""
    except (ValueError, RuntimeError, ModelError) as error:
        return None, get_message(error)
