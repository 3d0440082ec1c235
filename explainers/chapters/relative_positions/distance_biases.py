"""Numbers that a score gets for distance: ALiBi's are fixed, T5's are learned per bucket."""

from collections.abc import Sequence
from fractions import Fraction

import torch
from torch import Tensor

from explainers.chapters.common.head_matrices import make_head_matrices, make_miniatures
from explainers.chapters.relative_positions.position_scores import (
    DISTANCES,
    NUM_HEADS,
    AlibiWeights,
    BucketBiases,
)
from explainers.charts.matrix import Matrix, share_domain
from explainers.charts.theme import HEAD_AXIS
from explainers.translations import _
from explainers.ui.figure.panels import Figure, Panel, orient_panels


def name_slopes(slopes: Tensor) -> list[str]:
    """Powers of two as fractions: exact."""
    return [str(Fraction(slope)) for slope in slopes.tolist()]


def draw_penalties(shown: AlibiWeights, tokens: Sequence[str], queries_down: bool) -> Figure:
    """The penalty of each head for each distance, and all weights without and with it."""
    slopes = name_slopes(shown.slopes)
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
    drawn = make_head_matrices(name, [""] * NUM_HEADS, shown.without, tokens, shown.mask)
    before = make_miniatures(drawn, "without, head", heading)
    name, heading = _("with ALiBi, head {head}"), _("Weights with ALiBi, causal mask")
    drawn = make_head_matrices(name, formulas, shown.weights, tokens, shown.mask)
    after = make_miniatures(drawn, "with ALiBi, head", heading)
    panels = [
        Panel("penalty", penalties, heading=_("What a head takes off for distance")),
        *orient_panels([*before, *after], queries_down),
    ]
    alt = _("What each head takes off for distance, and its weights without and with ALiBi.")
    return Figure(panels, alt)


def draw_buckets(shown: BucketBiases, tokens: Sequence[str], queries_down: bool) -> Figure:
    """Which row of T5's table a distance reads, and what an untrained table adds to each score."""
    table = Matrix(
        _("bucket"),
        _("the row of the table that a distance reads"),
        shown.rows.tolist(),
        [_("decoder"), _("behind"), _("ahead")],
        [f"{distance}" for distance in DISTANCES],
        "",
        _("distance"),
        decimals=0,
    )
    name = _("added, head {head}")
    added = make_head_matrices(
        name, [""] * NUM_HEADS, shown.added, tokens, shown.mask, kind="signed"
    )
    heading = _("What a table drawn at random adds to each score, causal mask")
    rows_mean = _("Buckets of a decoder, and of an encoder for words behind and ahead")
    small = make_miniatures(share_domain(*added), "added, head", heading)
    panels = [Panel("bucket", table, heading=rows_mean), *orient_panels(small, queries_down)]
    alt = _("Which bucket each distance falls into, and what a table of buckets adds to scores.")
    return Figure(panels, alt)
