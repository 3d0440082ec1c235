"""What cross-attention costs: its weights beside those of one sequence, and its source's cache."""

import functools
from typing import NamedTuple

import torch

from explainers.attention import masks
from explainers.attention.cross import cross_attention, hide_padding, read_source
from explainers.attention.encoder_block import normalise
from explainers.chapters.cross_attention.alignment_view import View
from explainers.messages import N_
from explainers.translation.model import D_MODEL, NUM_LAYERS
from explainers.translation.translator import Translator
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.page import Prose
from explainers.ui.prediction import revealed
from explainers.ui.provenance import formula
from explainers.ui.source import show_source

CROSS, JOINED = N_("cross-attention"), N_("one behind the other")


class WeightCounts(NamedTuple):
    """How many weights one head computes in one layer that holds each kind of attention."""

    encoder: int
    decoder: int
    cross: int
    joined: int

    @property
    def separate(self) -> int:
        return self.encoder + self.decoder + self.cross


def count_weights(source_length: int, target_length: int) -> WeightCounts:
    """As many as the masks allow: the source sees itself, the target its past and the source."""
    joined_length = source_length + target_length
    return WeightCounts(
        int(masks.build(masks.full, source_length, source_length).sum()),
        int(masks.build(masks.causal, target_length, target_length).sum()),
        source_length * target_length,
        int(masks.build(masks.causal, joined_length, joined_length).sum()),
    )


@functools.cache
def count_large_weights() -> WeightCounts:
    """For a long document and its summary, whose masks have millions of cells."""
    return count_weights(1_500, 100)


def show_weight_counts(text: Prose, view: View) -> None:
    """A guess which way computes more weights; then both, drawn as bars."""
    source_length, target_length = len(view.translation.words) + 1, view.num_syllables + 1
    counts, large_counts = count_weights(source_length, target_length), count_large_weights()
    text("cells")
    answer = CROSS if counts.cross < counts.joined else JOINED
    if not revealed(
        text, "cells", (CROSS, JOINED), answer, source=source_length, target=target_length
    ):
        return
    from explainers.charts.bars import draw_bars, make_amount_rows  # the page starts without altair

    amounts = [(_(CROSS), counts.cross), (_(JOINED), counts.joined)]
    labels = ", ".join(f"{name} {count:,}" for name, count in amounts)
    alt = _("Weights: {counts}", counts=labels)
    origin = formula(_("weights that a mask allows, one head and layer"), torch.device("cpu"))
    show_chart(
        draw_bars, make_amount_rows(amounts), alt, "cells", origin, length=2, x_title="weights"
    )
    text(
        "cells_seen",
        source=source_length,
        target=target_length,
        encoder=counts.encoder,
        decoder=counts.decoder,
        cross=counts.cross,
        apart=counts.separate,
        joined=counts.joined,
        large_cross=f"{large_counts.cross:,}",
        large_joined=f"{large_counts.joined:,}",
        large_apart=f"{large_counts.separate:,}",
    )
    show_source(count_weights)


BYTES_PER_NUMBER = 4


def compare_cached_steps(view: View, translator: Translator) -> float:
    """The largest difference of any output: step by step on cached rows, and all steps at once."""
    largest_gap, translation = 0.0, view.translation
    mask = hide_padding(torch.tensor([len(translation.words) + 1]), len(translation.words) + 1)[0]
    for block, decoded in zip(translator.model.decoder, translation.decoder, strict=True):
        source = read_source(translation.memory, block.cross)
        queries = normalise(decoded.after_own, block.norms[1])
        steps = [cross_attention(row[None], source, block.cross, mask).output for row in queries]
        largest_gap = max(largest_gap, (torch.cat(steps) - decoded.cross.output).abs().max().item())
    return largest_gap


def show_source_cache(text: Prose, view: View, translator: Translator) -> None:
    """A guess how many rows the cache of the source grows by; then what it saves."""
    words, steps = len(view.translation.words) + 1, view.num_syllables + 1
    text("kept")
    options = "0", "1", f"{words}"
    if not revealed(text, "kept", options, options[0], words=words):
        return
    from explainers.charts.bars import draw_bars, make_amount_rows  # the page starts without altair

    cached_rows, recomputed_rows = words * NUM_LAYERS, words * NUM_LAYERS * steps
    rows = [(_("kept"), cached_rows), (_("computed again at each step"), recomputed_rows)]
    counts = ", ".join(f"{name} {count:,}" for name, count in rows)
    alt = _("Rows of the source's keys: {counts}", counts=counts)
    origin = formula(_("rows of keys that are computed"), torch.device("cpu"))
    show_chart(draw_bars, make_amount_rows(rows), alt, "kept", origin, length=2, x_title="rows")
    text(
        "kept_seen",
        words=words,
        layers=NUM_LAYERS,
        once=cached_rows,
        steps=steps,
        again=recomputed_rows,
        held=f"{2 * words * NUM_LAYERS * D_MODEL * BYTES_PER_NUMBER:,}",
        own=f"{2 * steps * NUM_LAYERS * D_MODEL * BYTES_PER_NUMBER:,}",
        difference=f"{compare_cached_steps(view, translator):.1g}",
    )
    show_source(read_source)
