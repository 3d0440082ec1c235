"""To take away: the scores of a head on a probe."""

from functools import partial
from typing import TYPE_CHECKING, Any

from torch import Tensor

from explainers.chapters.common.measured_heads import Gallery
from explainers.chapters.common.real_head_takeaway import record_layer, to_cpu
from explainers.models.head_scores import (
    PROBES,
    build_patterns,
    compute_entropy,
    measure_distance,
    score_pattern,
)
from explainers.models.load import is_on_disk, load_model
from explainers.models.probes import Probe
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.takeaway_files import take

if TYPE_CHECKING:
    pass

Place = tuple[int, int]


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


def take_scores(gallery: Gallery, probe: str, place: Place, head: str) -> None:
    """The scores of the chosen head, of which the picture shows one for every head.

    The model is loaded when the file is made, not before.
    """
    title = _("The scores of {head}", head=head)
    if gallery.loaded or is_on_disk(gallery.name):
        take("scores", partial(_make_scores, gallery, probe, place, title))


def _make_scores(gallery: Gallery, probe: str, place: Place, title: str) -> Recipe:
    loaded, measured = gallery.loaded or load_model(gallery.name), gallery.scores
    (number, head), texts = place, PROBES[probe](loaded)
    layer = record_layer(loaded, number, texts.ids)
    inputs: dict[str, Any] = {"weights": layer.weights[:, head], "mask": layer.mask[0, 0]}
    inputs = {name: to_cpu(one) for name, one in inputs.items()}
    inputs |= {"ids": texts.ids.cpu(), "marks": texts.marks.cpu()}
    names = compute_scores(*inputs.values())
    shown = {name: measured.select(probe, name)[number, head] for name in names}
    return Recipe(title, compute_scores, inputs, shown)
