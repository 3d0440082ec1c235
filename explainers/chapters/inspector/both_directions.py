"""A model that reads in one direction beside one that reads in both: the same sentence."""

from typing import NamedTuple

from explainers.chapters.common.choose_real_model import obtain_model
from explainers.chapters.common.recording import Recording, record_text
from explainers.charts.matrix import blank_forbidden, make_pair_matrix
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.page import Prose
from explainers.ui.page_parts.veil import ask_veiled
from explainers.ui.untrusted_text import verbatim


class Directions(NamedTuple):
    """Shares of all weight of a model: on tokens before, on the token itself, on those after."""

    before: float
    itself: float
    after: float


def directions(one: Recording) -> Directions:
    """Averaged over all layers, heads and queries."""
    mean = one.weights.mean(dim=(0, 1)) / len(one.tokens)
    return Directions(
        mean.tril(-1).sum().item(), mean.diagonal().sum().item(), mean.triu(1).sum().item()
    )


def show_beside(
    text: Prose, shown: Recording, layer: int, head: int, sentence: str, queries_down: bool
) -> None:
    """How much falls on later tokens, veiled; then both models' weights on the sentence."""
    from explainers.models.registry import WHEEL_MODELS

    text("beside")
    after = f"{100 * directions(shown).after:.0f} %"
    ask_veiled(text, "beside", after, ("0 %", "25 %", "50 %"), which=verbatim(shown.name))
    if not controls.other_model():
        return
    other_kind = "bidirectional" if shown.is_causal else "causal"
    loaded = obtain_model(
        next(model.id for model in WHEEL_MODELS if model.kind == other_kind), "beside"
    )
    if not loaded:
        return
    other = record_text(loaded, sentence)
    panels = [_panel(shown, layer, head), _panel(other, layer, head)]
    alt = _(
        "Weights of a head of {one}, and of one of {other}, on the same sentence.",
        one=shown.name,
        other=other.name,
    )
    origin = f"{shown.origin}; {other.origin}"
    show_figure(Figure(orient_panels(panels, queries_down), alt), origin, "beside")
    rows = [
        f"| {verbatim(one.name)} | {' | '.join(f'{share:.3f}' for share in directions(one))} |"
        for one in (shown, other)
    ]
    text("beside_seen", rows="\n".join(rows))


def _panel(one: Recording, layer: int, head: int) -> Panel:
    """The head of that number, or the last one that this model has."""
    layers, heads = one.shape
    layer, head = min(layer, layers - 1), min(head, heads - 1)
    short = one.name.split("/")[-1]
    name = _("{model}: layer {layer}, head {head}", model=short, layer=layer, head=head)
    way = _("bidirectional: every token sees later ones")
    if one.is_causal:
        way = _("causal: no token sees later ones")
    values = blank_forbidden(one.weights[layer, head].tolist(), one.masks[layer].tolist())
    return Panel(one.name, make_pair_matrix(name, way, values, one.tokens, kind="weights"))
