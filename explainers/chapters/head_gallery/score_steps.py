"""How a score is made, on a short text: weights, the keys that a name promises, and their sum."""

from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from explainers.chapters.common.measured_heads import Gallery, name_head
from explainers.chapters.common.real_head_takeaway import record_layer, to_cpu
from explainers.chapters.head_gallery.hero import list_names
from explainers.charts.matrix import Matrix
from explainers.models.head_roles import ROLES
from explainers.models.head_scores import (
    PATTERNS,
    PROBES,
    build_patterns,
    compute_entropy,
    compute_mass,
    measure_distance,
    score_pattern,
)
from explainers.models.load import is_on_disk, load_model
from explainers.models.probes import Probe
from explainers.models.shipped_scores import Example, read_shipped_scores
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.takeaway_files import take

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
    take_scores(gallery, "repeated", place, name_head(*place))
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


def compute_scores(weights: Tensor, mask: Tensor, ids: Tensor, marks: Tensor) -> dict[str, Tensor]:
    """What a head does on all texts of a probe: weights (texts, tokens, tokens).

    `ids` are the tokens of the texts, `marks` says which are punctuation.
    """
    one, seen = weights[:, None], mask.expand(weights.shape)
    found = {
        name: score_pattern(one, p)[0]
        for name, p in build_patterns(Probe(ids, marks), seen).items()
    }
    found["entropy"] = compute_entropy(one, seen).nanmean()
    found["distance"] = measure_distance(one)[0]
    return found


def take_scores(gallery: Gallery, probe: str, place: tuple[int, int], head: str) -> None:
    """The scores of the chosen head, of which the picture shows one for every head.

    The model is loaded when the file is made, not before.
    """
    title = _("The scores of {head}", head=head)
    if gallery.loaded or is_on_disk(gallery.name):
        take("scores", partial(_make_scores, gallery, probe, place, title))


def _make_scores(gallery: Gallery, probe: str, place: tuple[int, int], title: str) -> Recipe:
    loaded, measured = gallery.loaded or load_model(gallery.name), gallery.scores
    (number, head), texts = place, PROBES[probe](loaded)
    layer = record_layer(loaded, number, texts.ids)
    inputs: dict[str, Any] = {"weights": layer.weights[:, head], "mask": layer.mask[0, 0]}
    inputs = {name: to_cpu(one) for name, one in inputs.items()}
    inputs |= {"ids": texts.ids.cpu(), "marks": texts.marks.cpu()}
    names = compute_scores(*inputs.values())
    shown = {name: measured.select(probe, name)[number, head] for name in names}
    return Recipe(title, compute_scores, inputs, shown)
