"""ALiBi on the sentence: what each head takes off for distance, and the weights with it."""

from fractions import Fraction

import torch

from explainers.attention.alibi import alibi_bias, alibi_slopes, biased_attention
from explainers.chapters.shared_heads import takeaway as taken
from explainers.chapters.shared_heads.fixed_layers import NUM_HEADS, penalised
from explainers.chapters.shared_heads.kv_sharing import miniatures, per_head
from explainers.charts.matrix import Matrix
from explainers.charts.theme import HEAD_AXIS
from explainers.translations import _
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.page import Prose
from explainers.ui.provenance import random_weights
from explainers.ui.source import show_source


def show_penalties(text: Prose, tokens: tuple[str, ...], seed: int, queries_down: bool) -> None:
    """The penalty of each head for each distance, and all weights without and with it."""
    text("alibi")
    shown = penalised(tokens, seed)
    slopes = [str(Fraction(slope)) for slope in shown.slopes.tolist()]  # powers of two: exact
    distances = torch.arange(len(tokens), device=shown.slopes.device)
    penalties = Matrix(
        _("penalty"),
        _("− slope · distance, added to the score"),
        (-shown.slopes[:, None] * distances).tolist(),
        [f"{head}: {slope}" for head, slope in enumerate(slopes)],
        [str(n) for n in distances.tolist()],
        HEAD_AXIS,
        _("distance"),
    )
    formulas = [_("slope {slope}", slope=slope) for slope in slopes]
    name, heading = _("without, head {head}"), _("Weights without ALiBi, causal mask")
    drawn = per_head(name, [""] * NUM_HEADS, shown.without, tokens, shown.mask)
    before = miniatures(drawn, "without, head", heading)
    name, heading = _("with ALiBi, head {head}"), _("Weights with ALiBi, causal mask")
    drawn = per_head(name, formulas, shown.weights, tokens, shown.mask)
    after = miniatures(drawn, "with ALiBi, head", heading)
    panels = [
        Panel("penalty", penalties, heading=_("What a head takes off for distance")),
        *orient_panels([*before, *after], queries_down),
    ]
    alt = _("What each head takes off for distance, and its weights without and with ALiBi.")
    show_figure(Figure(panels, alt), random_weights(seed, shown.mask.device), "alibi")
    taken.penalties(tokens, seed, shown)
    text("alibi_slopes", heads=NUM_HEADS, slopes=", ".join(slopes))
    show_source(alibi_slopes, alibi_bias, biased_attention)
