"""How a score is made, on a short text: weights, the keys that a name promises, and their sum."""

from typing import NamedTuple

import torch
from torch import Tensor

from explainers.chapters.common.measured_heads import Gallery, name_head
from explainers.chapters.head_gallery import takeaway as taken
from explainers.chapters.head_gallery.hero import list_names
from explainers.charts.matrix import Matrix
from explainers.models.head_roles import ROLES
from explainers.models.head_scores import PATTERNS, build_patterns, compute_mass, score_pattern
from explainers.models.probes import Probe
from explainers.models.shipped_scores import Example, read_shipped_scores
from explainers.translations import _
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel

MOST_ROWS = 5
OTHERWISE = "induction"
CODE = build_patterns, compute_mass, score_pattern


class Steps(NamedTuple):
    """Rows of one head that a name is about: weights, which keys it promises, and their mass."""

    pattern_name: str
    rows: list[int]
    weights: Tensor
    pattern: Tensor
    mass: Tensor
    score: float
    """The mean over all rows of the text that the name is about."""


def compute_steps(gallery: Gallery, example: Example, place: tuple[int, int]) -> Steps:
    """The score of a head's first name on the example."""
    named = list_names(gallery.scores, place)
    wanted = {role.name: role.score_name for role in ROLES}
    name = next((wanted[one] for one in named if wanted[one] in PATTERNS), OTHERWISE)
    weights = example.weights[place][None, None]
    is_causal = not example.weights.triu(1).any()
    mask = torch.ones(weights.shape[1:], dtype=torch.bool)
    probe = Probe(
        example.ids[None], torch.tensor([[not t.strip().isalnum() for t in example.tokens]])
    )
    pattern = build_patterns(probe, mask.tril() if is_causal else mask)[name]
    rows = [row for row, line in enumerate(pattern[0]) if line.any()][-MOST_ROWS:]
    mass = compute_mass(weights, pattern)[0, 0]
    score = float(score_pattern(weights, pattern)[0])
    return Steps(name, rows, weights[0, 0][rows], pattern[0][rows], mass[rows], score)


def show_score_steps(gallery: Gallery, place: tuple[int, int]) -> dict[str, str]:
    """Three small matrices; the numbers for the text, none for a model without an example."""
    taken.take_scores(gallery, "repeated", place, name_head(*place))
    shipped = read_shipped_scores(gallery.name)
    if not shipped:
        return {}
    example = shipped.example
    steps = compute_steps(gallery, example, place)
    keys = [f"{n} {token.strip()}" for n, token in enumerate(example.tokens)]
    queries, axes = [keys[row] for row in steps.rows], (_("query"), _("key"))
    weights = Matrix(
        _("weights"),
        name_head(*place),
        steps.weights.tolist(),
        queries,
        keys,
        *axes,
        kind="weights",
    )
    promised = Matrix(
        _("promised keys"),
        _(steps.pattern_name),
        steps.pattern.float().tolist(),
        queries,
        keys,
        *axes,
        kind="weights",
    )
    mass = [[value] for value in steps.mass.tolist()]
    total = Matrix(
        _("their weight"), _("sum of a row"), mass, queries, [_("sum")], *axes, kind="weights"
    )
    panels = [
        Panel("weights", weights),
        Panel("promised", promised, "·"),
        Panel("mass", total, "→"),
    ]
    score = f"{steps.score:.2f}"
    alt = _("Weights, promised keys, and the weight on them: mean {score}.", score=score)
    show_figure(Figure(panels, alt), gallery.origin, "score steps")
    return {"head": name_head(*place), "name": _(steps.pattern_name), "score": score}
