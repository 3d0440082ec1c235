"""Cross-attention, or one sequence behind the other: which tables of weights each needs."""

from typing import NamedTuple

import torch

from explainers.attention import masks
from explainers.chapters.cross_attention.alignment_view import View
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.page import Prose
from explainers.ui.predict import revealed
from explainers.ui.provenance import formula
from explainers.ui.source import show_source

CROSS, JOINED = N_("cross-attention"), N_("one behind the other")


class Cells(NamedTuple):
    """How many weights one head computes in one layer that holds each kind of attention."""

    encoder: int
    decoder: int
    cross: int
    joined: int

    @property
    def apart(self) -> int:
        return self.encoder + self.decoder + self.cross


def counted(source: int, target: int) -> Cells:
    """As many as the masks allow: the source sees itself, the target its past and the source."""
    together = source + target
    return Cells(
        int(masks.build(masks.full, source, source).sum()),
        int(masks.build(masks.causal, target, target).sum()),
        source * target,
        int(masks.build(masks.causal, together, together).sum()),
    )


def show_cells(text: Prose, view: View) -> None:
    """A guess which way has more cells, then both, and who does which."""
    source, target = len(view.found.words) + 1, view.syllables + 1
    cells, large = counted(source, target), counted(1_500, 100)
    text("cells")
    answer = CROSS if cells.cross < cells.joined else JOINED
    if not revealed(text, "cells", (CROSS, JOINED), answer, source=source, target=target):
        return
    from explainers.charts.bars import (  # the page needs no altair to start
        draw_bars,
        make_amount_rows,
    )

    amounts = [(_(CROSS), cells.cross), (_(JOINED), cells.joined)]
    counts = ", ".join(f"{name} {count:,}" for name, count in amounts)
    alt = _("Weights: {counts}", counts=counts)
    origin = formula(_("weights that a mask allows, one head and layer"), torch.device("cpu"))
    show_chart(
        draw_bars, make_amount_rows(amounts), alt, "cells", origin, length=2, x_title="weights"
    )
    text(
        "cells_seen",
        source=source,
        target=target,
        encoder=cells.encoder,
        decoder=cells.decoder,
        cross=cells.cross,
        apart=cells.apart,
        joined=cells.joined,
        large_cross=f"{large.cross:,}",
        large_joined=f"{large.joined:,}",
        large_apart=f"{large.apart:,}",
    )
    show_source(counted)
