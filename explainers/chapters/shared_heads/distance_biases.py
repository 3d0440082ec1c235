"""Numbers that a score gets for distance: ALiBi's are fixed, T5's are learned per bucket."""

from collections.abc import Sequence
from fractions import Fraction

import torch

from explainers.attention import masks
from explainers.attention.position_bias import (
    alibi_bias,
    alibi_slopes,
    biased_attention,
    both_ways,
    bucket,
    relative_bias,
)
from explainers.chapters.shared_heads import takeaway as taken
from explainers.chapters.shared_heads.fixed_layers import NUM_HEADS, compute_alibi
from explainers.chapters.shared_heads.kv_sharing import miniatures, per_head
from explainers.charts.matrix import Matrix, share_domain
from explainers.charts.theme import HEAD_AXIS
from explainers.toys.examples import make_generator
from explainers.translations import _
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.page import Prose
from explainers.ui.provenance import random_weights
from explainers.ui.source import show_source

BUCKETS, FARTHEST = 32, 128
"""T5's: rows of the table, and the distance from which on all share the last."""
DISTANCES = 0, 1, 2, 4, 8, 15, 16, 20, 24, 32, 48, 64, 96, 127, 128, 500
"""Some near ones, and more and more of those that share a bucket."""


def show_penalties(text: Prose, tokens: tuple[str, ...], seed: int, queries_down: bool) -> None:
    """The penalty of each head for each distance, and all weights without and with it."""
    text("alibi")
    shown = compute_alibi(tokens, seed)
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
    taken.take_alibi(tokens, seed, shown)
    text("alibi_slopes", heads=NUM_HEADS, slopes=", ".join(slopes))
    show_source(alibi_slopes, alibi_bias, biased_attention)


def draw_buckets(tokens: Sequence[str], seed: int, queries_down: bool) -> Figure:
    """Which row of T5's table a distance reads, and what an untrained table adds to each score."""
    back = torch.tensor(DISTANCES)
    rows = {
        _("decoder"): bucket(back, BUCKETS, FARTHEST),
        _("behind"): both_ways(back, BUCKETS, FARTHEST),
        _("ahead"): both_ways(-back, BUCKETS, FARTHEST),
    }
    table = Matrix(
        _("bucket"),
        _("the row of the table that a distance reads"),
        [which.tolist() for which in rows.values()],
        list(rows),
        [f"{distance}" for distance in DISTANCES],
        "",
        _("distance"),
        decimals=0,
    )
    position = torch.arange(len(tokens))
    offset = position[:, None] - position  # (q_len, kv_len)
    learned = torch.randn(BUCKETS, NUM_HEADS, generator=make_generator("buckets", seed))
    bias = relative_bias(learned, bucket(offset, BUCKETS, FARTHEST))
    name, mask = _("added, head {head}"), masks.build(masks.causal, *offset.shape)
    added = share_domain(*per_head(name, [""] * NUM_HEADS, bias, tokens, mask, kind="signed"))
    heading = _("What a table drawn at random adds to each score, causal mask")
    rows_mean = _("Buckets of a decoder, and of an encoder for words behind and ahead")
    panels = [
        Panel("bucket", table, heading=rows_mean),
        *orient_panels(miniatures(added, "added, head", heading), queries_down),
    ]
    alt = _("Which bucket each distance falls into, and what a table of buckets adds to scores.")
    return Figure(panels, alt)
